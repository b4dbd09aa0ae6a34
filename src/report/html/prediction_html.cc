// The page of a prediction: the answer, its distribution over the draws, and what was full first.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "judge/prediction_rules.h"
#include "report/facts/prediction_facts.h"
#include "report/html/charts.h"
#include "report/html/html_page.h"
#include "report/html/html_report.h"
#include "report/html/html_text.h"
#include "report/tables/table.h"

namespace streamsim::report {
namespace {

using html::escaped;
using html::paragraph;
using html::section;

/// "good" where the exit code says that all play; "bad": one does not, or has no answer.
const char* tone_of(const PredictionResult& result) {
    const bool answered = std::ranges::all_of(result.predictions, [](const Prediction& prediction) {
        return prediction.verdict == Prediction::Verdict::answered;
    });
    const bool fails = std::ranges::any_of(result.predictions, judge::predicts_failure);
    if (result.predictions.empty() || !answered || fails) return "bad";
    return std::ranges::all_of(result.predictions, judge::predicts_play) ? "good" : "doubtful";
}

std::string heading(const PredictionResult& result) {
    std::string out = fmt::format(
        "<header class=\"verdict {}\">\n<p class=\"kind\">streamsim prediction</p>\n<h1><span class=\"word "
        "counts\">{}</span></h1>\n",
        tone_of(result), escaped(prediction_closing(result)));
    out += paragraph(escaped(prediction_title(result)) + ".", "reason");
    if (result.common.model) {
        out += paragraph(
            fmt::format("<strong>Modelled.</strong> This is no measurement: {} is a model ({}).",
                        html::name(result.common.model->name), html::name(result.common.model->title)),
            "warning");
    }
    return out + "</header>\n";
}

/// The share of draws for each number of streams, without gaps.
std::string distribution_chart(const Prediction& prediction, const std::string& id, html::Charts& charts) {
    if (prediction.distribution.empty()) return {};
    OrderedJson labels = OrderedJson::array();
    OrderedJson values = OrderedJson::array();
    std::string words;
    std::uint64_t next = prediction.distribution.front().streams;
    for (const PredictedCount& count : prediction.distribution) {
        for (; next < count.streams; ++next) {
            labels.push_back(std::to_string(next));
            values.push_back(0);
        }
        labels.push_back(std::to_string(next++));
        values.push_back(percent_of(count.draws, prediction.draws));
        words += fmt::format("{}{}: {:g} %", words.empty() ? "" : ", ", count.streams,
                             percent_of(count.draws, prediction.draws));
    }
    const std::string title = fmt::format("Streams of {} that play", prediction.what);
    return charts.add(id,
                      {{"kind", "columns"},
                       {"y", "% of draws"},
                       {"unit", "% of draws"},
                       {"labels", labels},
                       {"series", {{{"label", title}, {"role", "line"}, {"y", values}}}}},
                      fmt::format("{}: {}", title, words),
                      fmt::format("<strong>{}</strong>, share of {}: {}", html::name(title),
                                  counted(prediction.draws, "draw"), escaped(words)),
                      true);
}

std::string full_first(const Prediction& prediction, const std::string& key) {
    std::uint64_t all = 0;
    for (const FullFirst& each : prediction.full_first) all += each.draws;
    Table table{.title = "Full first, with one stream more than plays", .css_class = "named"};
    table.left({"part"});
    table.right({"draws", "share"});
    for (std::size_t i = 0; i < prediction.full_first.size(); ++i) {
        const FullFirst& each = prediction.full_first[i];
        table.row({each.part, count_cell(fmt::format("{}.full_first.{}.draws", key, i), each.draws),
                   fmt::format("{:g} %", percent_of(each.draws, all))});
    }
    return html::table_html(table);
}

std::string sentences(const Prediction& prediction) {
    std::string out = "<ul class=\"remarks\">\n";
    for (const std::string& text : prediction_sentences(prediction)) out += "<li>" + escaped(text) + "</li>\n";
    return out + "</ul>\n";
}

std::string about(const PredictionResult& result) {
    const RunResult& common = result.common;
    html::Facts facts;
    facts.add("Date", fmt::format("<time>{}</time>", escaped(common.started_at)));
    facts.add("Model", html::name(common.url));
    if (common.model) {
        const auto& trust = common.model->trust;
        for (const std::string& text : trust) facts.add(&text == trust.data() ? "Trust" : "", escaped(text));
    }
    facts.add("Draws", fmt::format("{}, seed {}", counted(result.draws, "draw"), common.seed));
    facts.add("Command", "<code>" + html::name(html::show_command(common.command)) + "</code>");
    facts.add("streamsim", fmt::format("{} ({})", escaped(common.version), escaped(common.revision)));
    return facts.html();
}

}  // namespace

std::string prediction_html_report(const PredictionResult& result) {
    html::Charts charts;
    html::Page page;
    page.begins = kPredictionHtmlBegins;
    page.title = "streamsim: " + prediction_closing(result);
    page.main = html::project_html(result.common.project) + heading(result);
    for (std::size_t i = 0; i < result.predictions.size(); ++i) {
        const Prediction& prediction = result.predictions[i];
        page.main += section(fmt::format("prediction-{}", i), html::name(prediction.what),
                             sentences(prediction) +
                                 distribution_chart(prediction, fmt::format("distribution-{}", i), charts) +
                                 full_first(prediction, fmt::format("predictions.{}", i)));
    }
    page.main += section("about", "Set-up", about(result));
    page.data = charts.empty() ? "" : charts.data();
    return html::document(page);
}

}  // namespace streamsim::report
