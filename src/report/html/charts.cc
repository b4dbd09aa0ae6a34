#include "report/html/charts.h"

#include <fmt/format.h>

#include <utility>

#include "report/html/html_text.h"

namespace streamsim::report::html {

std::string Charts::add(
    const std::string& id, OrderedJson numbers, std::string_view label, const std::string& caption, bool low) {
    charts_[id] = std::move(numbers);
    return fmt::format(
        "<figure><div class=\"chart{}\"><canvas data-chart=\"{}\" role=\"img\" "
        "aria-label=\"{}\"></canvas></div>"
        "<figcaption>{}</figcaption></figure>\n",
        low ? " low" : "", id, escaped(label), caption);
}

std::string Charts::data() const {
    const OrderedJson data = {{"axes", axes_}, {"events", events_}, {"end", end_}, {"charts", charts_}};
    std::string out;
    for (const char c : json_text(data)) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

}  // namespace streamsim::report::html
