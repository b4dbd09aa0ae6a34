#include "scenario/published_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/document/json.h"

namespace streamsim::scenario {
namespace {

constexpr double kNumberMax = 1e18;
constexpr std::int64_t kSeatsMax = 10'000;

/// Units of figures, in bytes a second.
const std::map<std::string, double>& units() {
    static const std::map<std::string, double> all = {
        {"Mb/s", 1e6 / 8}, {"Gb/s", 1e9 / 8}, {"MB/s", 1e6}, {"GB/s", 1e9}};
    return all;
}

/// Calls `read` with each element of a list of objects.
void each(JsonObject& from,
          const char* key,
          JsonProblems& problems,
          const std::function<void(JsonObject& element)>& read) {
    const Json* const list = from.member(key, false);
    if (list == nullptr) return;
    if (!list->is_array()) return from.problem(key, "expected a list of objects");
    for (std::size_t i = 0; i < list->size(); ++i) {
        JsonObject element((*list)[i], fmt::format("{}/{}", from.pointer_of(key), i), problems);
        read(element);
        element.finish();
    }
}

std::uint32_t count_of(JsonObject& from, const char* key, std::int64_t least) {
    return static_cast<std::uint32_t>(from.integer(key, least, kSeatsMax).value_or(least));
}

PublishedRow read_row(JsonObject& from) {
    PublishedRow row;
    row.id = from.string("id").value_or("");
    row.model = from.string("model").value_or("");
    row.nodes = count_of(from, "nodes", 1);
    row.seats = count_of(from, "seats", 1);
    row.format = from.string("format").value_or("");
    row.printed = count_of(from, "printed", 1);
    row.fit = from.one_of("role", {"fit", "validation"}).value_or("") == "fit";
    row.equal = from.boolean("equal", false).value_or(false);
    if (const auto gives = from.integer("model_gives", 0, 1'000'000, false))
        row.model_gives = static_cast<std::uint32_t>(*gives);
    row.printed_limit = from.string("printed_limit", false).value_or("");
    row.note = from.string("note", false).value_or("");
    if (row.equal && row.printed % row.seats != 0)
        from.problem("printed", fmt::format("expected a multiple of the {} seats, which have equal numbers of "
                                            "streams",
                                            row.seats));
    return row;
}

PublishedFigure read_figure(JsonObject& from) {
    using Quantity = PublishedFigure::Quantity;
    PublishedFigure figure;
    figure.id = from.string("id").value_or("");
    figure.text = from.string("text").value_or("");
    const std::string quantity =
        from.one_of("quantity", {"format-rate", "most-rate", "required-rate"}).value_or("format-rate");
    if (quantity == "most-rate") figure.quantity = Quantity::most_rate;
    if (quantity == "required-rate") figure.quantity = Quantity::required_rate;
    const bool of_format = figure.quantity == Quantity::format_rate;
    figure.format = from.string("format", of_format).value_or("");
    figure.row = from.string("row", !of_format).value_or("");
    figure.printed = from.number("printed", 0, kNumberMax).value_or(0);
    figure.unit = from.one_of("unit", {"Mb/s", "Gb/s", "MB/s", "GB/s"}).value_or("GB/s");
    figure.unit_per_s = units().at(figure.unit);
    figure.note = from.string("note", false).value_or("");
    return figure;
}

FitParameter read_parameter(JsonObject& from) {
    FitParameter parameter;
    parameter.name = from.string("name").value_or("");
    parameter.title = from.string("title").value_or("");
    parameter.rate = from.one_of("kind", {"cost", "rate"}).value_or("cost") == "rate";
    parameter.least = from.number("least", 1e-15, kNumberMax).value_or(1);
    parameter.most = from.number("most", 1e-15, kNumberMax).value_or(1);
    if (parameter.most < parameter.least) from.problem("most", "expected no less than /least");
    const Json* const rows = from.member("rows");
    if (rows == nullptr) return parameter;
    if (!rows->is_array() || rows->empty() ||
        !std::all_of(rows->begin(), rows->end(), [](const Json& row) { return row.is_string(); })) {
        from.problem("rows", "expected a list of the rows that tell this value, by their ids");
        return parameter;
    }
    parameter.rows = rows->get<std::vector<std::string>>();
    return parameter;
}

FittedNumber read_number(JsonObject& from, JsonProblems& problems) {
    FittedNumber number;
    number.model = from.string("model").value_or("");
    number.pointer = from.string("pointer").value_or("");
    number.constant = from.number("constant", -kNumberMax, kNumberMax, false).value_or(0);
    const Json* const terms = from.member("terms");
    if (terms == nullptr) return number;
    if (!terms->is_object()) {
        from.problem("terms", "expected an object: by parameter, how many times it is added");
        return number;
    }
    for (const auto& [name, factor] : terms->items()) {
        if (factor.is_number()) {
            number.terms.push_back({name, factor.get<double>()});
        } else {
            problems.add(from.pointer_of("terms") + "/" + name, "expected a number");
        }
    }
    return number;
}

/// Notes each name that names nothing.
void check_names(const PublishedPaper& paper, JsonProblems& problems) {
    const auto is_row = [&paper](const std::string& id) {
        return std::any_of(paper.rows.begin(), paper.rows.end(),
                           [&id](const PublishedRow& row) { return row.id == id; });
    };
    for (std::size_t i = 0; i < paper.figures.size(); ++i) {
        const std::string& row = paper.figures[i].row;
        if (!row.empty() && !is_row(row))
            problems.add(fmt::format("/figures/{}/row", i), fmt::format("there is no row \"{}\"", row));
    }
    for (std::size_t i = 0; i < paper.parameters.size(); ++i) {
        for (const std::string& row : paper.parameters[i].rows) {
            const auto found = std::find_if(paper.rows.begin(), paper.rows.end(),
                                            [&row](const PublishedRow& each) { return each.id == row; });
            if (found == paper.rows.end() || !found->fit)
                problems.add(fmt::format("/fit/parameters/{}/rows", i),
                             fmt::format("\"{}\" is no row with \"role\": \"fit\"", row));
        }
    }
    for (std::size_t i = 0; i < paper.numbers.size(); ++i) {
        for (const FittedNumber::Term& term : paper.numbers[i].terms) {
            if (std::none_of(paper.parameters.begin(), paper.parameters.end(),
                             [&term](const FitParameter& each) { return each.name == term.parameter; }))
                problems.add(fmt::format("/fit/numbers/{}/terms/{}", i, term.parameter),
                             "there is no such parameter");
        }
    }
}

void read_fit(JsonObject& top, PublishedPaper& paper, JsonProblems& problems) {
    const Json* const value = top.member("fit", false);
    if (value == nullptr) return;
    JsonObject fit(*value, top.pointer_of("fit"), problems);
    each(fit, "parameters", problems,
         [&](JsonObject& element) { paper.parameters.push_back(read_parameter(element)); });
    each(fit, "numbers", problems,
         [&](JsonObject& element) { paper.numbers.push_back(read_number(element, problems)); });
    fit.finish();
}

}  // namespace

Result<PublishedPaper> read_published(std::string_view text, const std::string& source) {
    const auto json = parse_json(text, source);
    if (!json) return json.error();
    JsonProblems problems(source);
    PublishedPaper paper;
    paper.source = source;
    JsonObject top(*json, "", problems);
    check_schema(top, "streamsim.published", 1);
    paper.name = top.string("name").value_or("");
    paper.title = top.string("title").value_or("");
    each(top, "rows", problems, [&](JsonObject& element) { paper.rows.push_back(read_row(element)); });
    each(top, "figures", problems, [&](JsonObject& element) { paper.figures.push_back(read_figure(element)); });
    each(top, "loads", problems, [&](JsonObject& element) {
        PublishedLoad& load = paper.loads.emplace_back();
        load.workload = element.string("workload").value_or("");
        load.target = element.string("target").value_or("");
        load.duration = element.duration("duration", false);
        const Json* const steps = element.member("steps", false);
        if (steps == nullptr) return;
        if (steps->is_array() &&
            std::all_of(steps->begin(), steps->end(), [](const Json& step) { return step.is_number(); })) {
            load.steps = steps->get<std::vector<double>>();
        } else {
            element.problem("steps", "expected a list of values of the workload's sweep");
        }
    });
    read_fit(top, paper, problems);
    each(top, "others", problems, [&](JsonObject& element) {
        PublishedOther& other = paper.others.emplace_back();
        other.printed = element.string("printed").value_or("");
        other.why = element.string("why").value_or("");
    });
    top.finish();
    if (problems.empty()) check_names(paper, problems);
    if (!problems.empty()) return problems.error();
    return paper;
}

}  // namespace streamsim::scenario
