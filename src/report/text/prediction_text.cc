#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/prediction_facts.h"
#include "report/facts/show.h"
#include "report/text/screen.h"
#include "report/text/text_report.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kBarColumns = 40;

/// A row for each number of streams.
Table distribution_of(const Prediction& prediction) {
    Table table{.title = fmt::format("How many streams of {} play", printable(prediction.what))};
    table.right({"streams", "draws", "share"});
    table.left({""});
    std::uint64_t most = 1;
    for (const PredictedCount& count : prediction.distribution) most = std::max(most, count.draws);
    for (const PredictedCount& count : prediction.distribution)
        table.row({count_cell(count.streams), count_cell(count.draws),
                   fmt::format("{:.1f} %", percent_of(count.draws, prediction.draws)),
                   std::string(std::max<std::size_t>(count.draws * kBarColumns / most, 1), '#')});
    return table;
}

std::vector<std::string> model_sentences(const PredictionResult& result) {
    std::vector<std::string> out;
    if (!result.common.model) return out;
    out.push_back(fmt::format("This is no measurement: {} is a model ({})",
                              printable(result.common.model->name), printable(result.common.model->title)));
    for (const std::string& text : result.common.model->trust) out.push_back("Trust: " + printable(text));
    return out;
}

}  // namespace

std::string prediction_text_report(const PredictionResult& result, TextDetail detail) {
    if (detail == TextDetail::full) {
        std::string out = prediction_title(result) + "\n\n";
        for (const Prediction& prediction : result.predictions) {
            for (const std::string& text : prediction_sentences(prediction)) out += text + "\n";
            if (!prediction.distribution.empty()) out += "\n" + table_text(distribution_of(prediction));
            out += "\n";
        }
        for (const std::string& text : model_sentences(result)) out += text + "\n";
        return out + "\n" + prediction_closing(result) + "\n";
    }
    TextScreen screen(wrapped(prediction_closing(result), {.lines_max = 1}).front(), "--html, --json");
    screen.add_text(prediction_title(result), 2);
    screen.add_line("");
    for (const Prediction& prediction : result.predictions) {
        for (const std::string& text : prediction_sentences(prediction)) screen.add_text(text, 3);
    }
    screen.add_line("");
    for (const std::string& text : model_sentences(result)) screen.add_text(text, 2);
    return screen.text();
}

}  // namespace streamsim::report
