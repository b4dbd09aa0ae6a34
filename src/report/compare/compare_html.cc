#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "report/compare/compare_report.h"
#include "report/html/charts.h"
#include "report/html/html_page.h"
#include "report/html/html_text.h"
#include "report/tables/table.h"

namespace streamsim::report {
namespace {

using html::escaped;
using html::paragraph;
using html::section;

const char* css_class(const ComparedValue& value) {
    if (value.direction == Direction::worse) return "bad";
    return value.direction == Direction::better ? "good" : "";
}

Table results_table(const Comparison& comparison) {
    Table table{.title = "Results", .css_class = "named prose"};
    table.left({"", "file", "date", "verdict"});
    for (std::size_t i = 0; i < comparison.results.size(); ++i) {
        const ComparedResult& result = comparison.results[i];
        table.row({column_name(i), name_cell(result.name), result.started_at, name_cell(result.verdict)});
    }
    return table;
}

Table setup_table(const Comparison& comparison) {
    Table table{.title = "Differences of the set-up", .css_class = "named"};
    table.left({"property"});
    for (std::size_t i = 0; i < comparison.results.size(); ++i) table.left({column_name(i)});
    for (const SetupDifference& row : comparison.setup) {
        std::vector<Cell> cells{row.what};
        for (const std::string& value : row.values) cells.push_back(name_cell(value));
        table.row(std::move(cells));
    }
    return table;
}

Table figures_table(const Comparison& comparison) {
    Table table{.title = "Figures, compared with A", .css_class = "named"};
    table.left({"figure"});
    for (std::size_t i = 0; i < comparison.results.size(); ++i) {
        table.right({column_name(i)});
        if (i > 0) table.left({column_name(i) + " against A"});
    }
    for (const ComparedFigure& figure : comparison.figures) {
        std::vector<Cell> row{figure.label};
        for (const ComparedValue& value : figure.values) {
            row.emplace_back(shown_value(figure, value));
            if (value.verdict == ChangeVerdict::reference) continue;
            row.emplace_back(shown_change(figure, value));
            row.back().css_class = css_class(value);
        }
        table.row(std::move(row));
    }
    return table;
}

std::string labels_of(const Comparison& comparison, std::size_t result, Direction direction) {
    std::string out;
    for (const ComparedFigure& figure : comparison.figures) {
        const ComparedValue& value = figure.values[result];
        if (value.verdict == ChangeVerdict::changed && value.direction == direction)
            out += (out.empty() ? "" : ", ") + figure.label;
    }
    return out;
}

/// "B against A: worse in min margin, frames dropped; better in none."
std::string summary(const Comparison& comparison, std::size_t result) {
    const std::string worse = labels_of(comparison, result, Direction::worse);
    const std::string better = labels_of(comparison, result, Direction::better);
    std::string words;
    if (!worse.empty()) words += "<strong class=\"bad\">worse</strong> in " + escaped(worse);
    if (!better.empty())
        words += fmt::format("{}<strong class=\"good\">better</strong> in {}", words.empty() ? "" : "; ",
                             escaped(better));
    if (const std::string changed = labels_of(comparison, result, Direction::neither); !changed.empty())
        words +=
            fmt::format("{}changed, neither better nor worse: {}", words.empty() ? "" : "; ", escaped(changed));
    if (words.empty()) words = "no figure changed by more than the noise";
    return paragraph(fmt::format("{} against A: {}.", column_name(result), words), "reason");
}

struct ChartUnit {
    const char* name;
    double scale;  // from the figure's unit
};

ChartUnit chart_unit(Unit unit) {
    switch (unit) {
        case Unit::ns: return {"ms", 1e-6};
        case Unit::share: return {"%", 100};
        case Unit::bytes_per_s: return {"MB/s", 1e-6};
        default: return {"", 1};
    }
}

/// A chart for each figure that has two numbers or more.
std::string figure_charts(const Comparison& comparison, html::Charts& charts) {
    OrderedJson labels = OrderedJson::array();
    for (std::size_t i = 0; i < comparison.results.size(); ++i) labels.push_back(column_name(i));
    std::string out;
    for (const ComparedFigure& figure : comparison.figures) {
        const auto known = std::ranges::count_if(
            figure.values, [](const ComparedValue& value) { return value.number.has_value(); });
        const bool any = std::ranges::any_of(
            figure.values, [](const ComparedValue& value) { return value.number.value_or(0) != 0; });
        if (figure.unit == Unit::words || known < 2 || !any) continue;
        const ChartUnit unit = chart_unit(figure.unit);
        std::string words;
        OrderedJson values = OrderedJson::array();
        for (std::size_t i = 0; i < figure.values.size(); ++i) {
            const ComparedValue& value = figure.values[i];
            values.push_back(value.number ? OrderedJson(*value.number * unit.scale) : OrderedJson(nullptr));
            const std::string change = shown_change(figure, value);
            words += fmt::format("{}{} {}{}", i == 0 ? "" : ", ", column_name(i), shown_value(figure, value),
                                 change.empty() ? "" : " (" + change + ")");
        }
        const OrderedJson series = {{"label", figure.label}, {"role", "line"}, {"y", values}};
        out += charts.add(figure.key,
                          {{"kind", "columns"},
                           {"y", unit.name},
                           {"unit", unit.name},
                           {"labels", labels},
                           {"series", {series}}},
                          figure.label + ": " + words,
                          fmt::format("<strong>{}</strong>: {}", escaped(figure.label), escaped(words)), true);
    }
    return out.empty() ? out : "<div class=\"few\">\n" + out + "</div>\n";
}

}  // namespace

std::string comparison_html(const Comparison& comparison) {
    std::string head =
        "<header class=\"verdict\">\n<p class=\"kind\">streamsim comparison</p>\n<h1><span class=\"word\">" +
        escaped(fmt::format("{} compared with A", counted(comparison.results.size() - 1, "result"))) +
        "</span></h1>\n";
    for (const std::string& remark : comparison.remarks)
        head += paragraph("<strong>" + escaped(remark) + "</strong>", "warning");
    for (std::size_t i = 1; i < comparison.results.size(); ++i) head += summary(comparison, i);
    head += "</header>\n";
    html::Charts charts;
    const std::string setup = html::table_html(setup_table(comparison));
    const std::string figures = section(
        "figures", "Figures",
        html::table_html(figures_table(comparison)) + paragraph(escaped(noise_text(comparison)), "note"));
    const std::string pictures = figure_charts(comparison, charts);
    return html::document(
        {.title = "streamsim: results compared",
         .main =
             head + section("results", "Results", html::table_html(results_table(comparison))) +
             section("setup", "Differences of the set-up", setup.empty() ? paragraph("None known.") : setup) +
             figures + (pictures.empty() ? "" : section("charts", "Each figure", pictures)),
         .data = charts.empty() ? "" : charts.data(),
         .begins = kComparisonHtmlBegins});
}

}  // namespace streamsim::report
