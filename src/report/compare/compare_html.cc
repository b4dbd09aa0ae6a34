#include <fmt/format.h>

#include "report/compare/compare_report.h"
#include "report/facts/markup.h"
#include "report/html/html_text.h"

namespace streamsim::report {
namespace {

/// Dark and light; a table that is wider than the window scrolls by itself; on paper nothing does.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --line: #c9d1d9; --soft: #57606a;
        --worse: #b3261e; --better: #1a6b33; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #14181d; --line: #3d444d; --soft: #a8b1bb;
          --worse: #ff8f87; --better: #7ee093; } }
body { font: 16px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
       max-width: 80rem; padding: 1rem; }
li { overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left;
         vertical-align: top; }
th { font-weight: 600; } thead th { white-space: nowrap; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.worse { color: var(--worse); font-weight: 600; } .better { color: var(--better); font-weight: 600; }
.soft { color: var(--soft); }
@media print { :root { --ink: #000; --paper: #fff; --worse: #8c1d18; --better: #14532d; --soft: #333; }
  .scroll { overflow: visible; } body { max-width: none; font-size: 10pt; } }
)";

std::string_view value_class(const ComparedValue& value) {
    if (value.direction == Direction::worse) return "worse";
    if (value.direction == Direction::better) return "better";
    return value.verdict == ChangeVerdict::changed ? "changed" : "soft";
}

/// `label`: the name of the scrolling region for screen readers.
std::string table_begins(std::string_view label, const Comparison& comparison, bool with_changes) {
    std::string out = fmt::format(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n"
        "<table>\n<thead><tr><td></td>",
        label);
    for (std::size_t i = 0; i < comparison.results.size(); ++i) {
        out += fmt::format("<th scope=\"col\">{}</th>", column_name(i));
        if (with_changes && i > 0) out += fmt::format("<th scope=\"col\">{} against A</th>", column_name(i));
    }
    return out + "</tr></thead>\n<tbody>\n";
}

constexpr std::string_view kTableEnds = "</tbody>\n</table>\n</div>\n";

std::string results_list(const Comparison& comparison) {
    std::string out = "<ul>\n";
    for (std::size_t i = 0; i < comparison.results.size(); ++i) {
        const ComparedResult& result = comparison.results[i];
        out +=
            fmt::format("<li><strong>{}</strong>: {}, <span class=\"soft\">{}</span><br>{}</li>\n",
                        column_name(i), markup(result.name), markup(result.started_at), markup(result.verdict));
    }
    return out + "</ul>\n";
}

std::string setup_part(const Comparison& comparison) {
    if (comparison.setup.empty()) return "<p>None known.</p>\n";
    std::string out = table_begins("Differences of the set-up", comparison, false);
    for (const SetupDifference& row : comparison.setup) {
        out += fmt::format("<tr><th scope=\"row\">{}</th>", markup(row.what));
        for (const std::string& value : row.values) out += fmt::format("<td>{}</td>", markup(value));
        out += "</tr>\n";
    }
    return out.append(kTableEnds);
}

std::string figures_part(const Comparison& comparison) {
    std::string out = table_begins("Figures", comparison, true);
    for (const ComparedFigure& figure : comparison.figures) {
        out += fmt::format("<tr><th scope=\"row\">{}</th>", markup(figure.label));
        for (const ComparedValue& value : figure.values) {
            out += fmt::format("<td class=\"number\">{}</td>", markup(shown_value(figure, value)));
            if (value.verdict == ChangeVerdict::reference) continue;
            out += fmt::format("<td class=\"{}\">{}</td>", value_class(value),
                               markup(shown_change(figure, value)));
        }
        out += "</tr>\n";
    }
    return out.append(kTableEnds);
}

}  // namespace

std::string comparison_html(const Comparison& comparison) {
    std::string out = html::page_begins(kComparisonHtmlBegins, "", "streamsim: results compared", kStyle);
    out += "<main>\n<h1>Results compared with A</h1>\n";
    for (const std::string& remark : comparison.remarks)
        out += fmt::format("<p><strong>{}</strong></p>\n", markup(remark));
    out += results_list(comparison);
    out += "<h2>Differences of the set-up</h2>\n" + setup_part(comparison);
    out += "<h2>Figures</h2>\n" + figures_part(comparison);
    return out + "<p class=\"soft\">" + markup(noise_text(comparison)) + "</p>\n</main>\n</body>\n</html>\n";
}

}  // namespace streamsim::report
