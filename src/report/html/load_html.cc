#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/facts/headline.h"
#include "report/html/html_page.h"
#include "report/html/html_report.h"
#include "report/html/html_text.h"
#include "report/tables/load_tables.h"

namespace streamsim::report {
namespace {

using html::escaped;
using html::paragraph;
using html::section;
using html::table_html;

constexpr double kWidth = 640, kHeight = 300, kLeft = 70, kBottom = 40, kTop = 10, kRight = 10;

struct Point {
    double x = 0, y = 0;
};

struct Curve {
    std::string x_title, y_title;
    std::vector<Point> measured, printed;
};

/// The next of 1, 2, 5, 10, 20, ... from `value` on.
double round_up(double value) {
    if (value <= 0) return 1;
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {1.0, 2.0, 5.0, 10.0}) {
        if (value <= step * power * 1.000001) return step * power;
    }
    return 10 * power;
}

std::string curve_svg(const Curve& curve) {
    double x_most = 0;
    double y_most = 0;
    for (const auto* points : {&curve.measured, &curve.printed}) {
        for (const Point& point : *points) {
            x_most = std::max(x_most, point.x);
            y_most = std::max(y_most, point.y);
        }
    }
    x_most = round_up(x_most);
    y_most = round_up(y_most);
    const auto x_of = [&](double x) { return kLeft + x / x_most * (kWidth - kLeft - kRight); };
    const auto y_of = [&](double y) { return kHeight - kBottom - y / y_most * (kHeight - kBottom - kTop); };
    std::string out = fmt::format(
        "<figure><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} against {}\" font-size=\"12\" "
        "fill=\"currentColor\" style=\"max-width:48rem;width:100%\">\n",
        kWidth, kHeight, escaped(curve.y_title), escaped(curve.x_title));
    for (int i = 0; i <= 4; ++i) {
        const double x = x_most * i / 4;
        const double y = y_most * i / 4;
        out += fmt::format(
            "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"currentColor\" "
            "stroke-opacity=\"0.2\"/><text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
            kLeft, kWidth - kRight, y_of(y), kLeft - 6, y_of(y) + 4, y);
        out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{:g}</text>\n", x_of(x),
                           kHeight - kBottom + 16, i == 4 ? "end" : "middle", x);
    }
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kWidth - kRight, kHeight - 4,
                       escaped(curve.x_title));
    std::string line;
    for (const Point& point : curve.measured)
        line += fmt::format("{:.1f},{:.1f} ", x_of(point.x), y_of(point.y));
    out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\"/>\n",
                       line);
    for (const Point& point : curve.measured)
        out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>\n", x_of(point.x), y_of(point.y));
    for (const Point& point : curve.printed) {
        out += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"8\" fill=\"none\" "
            "stroke=\"currentColor\"/>\n",
            x_of(point.x) - 4, y_of(point.y) - 4);
    }
    out += "</svg>\n<figcaption>" + escaped(curve.y_title) + " against " + escaped(curve.x_title);
    return out + (curve.printed.empty() ? "" : "; squares: printed by the source") + "</figcaption></figure>\n";
}

/// Latency against operations if the workload asks for it, else the rate over the steps.
std::string curve_of(const LoadResult& result) {
    if (result.steps.size() < 2) return "";
    Curve curve;
    if (result.workload.report == Workload::Report::curve) {
        curve.x_title = "operations/s";
        curve.y_title = "mean latency (ms)";
        for (const LoadStep& step : result.steps)
            curve.measured.push_back({step.all.operations_per_s, step.all.latency_mean_ns / 1e6});
        for (const PrintedFigure& printed : result.workload.printed) {
            if (printed.quantity == "latency_ms") curve.printed.push_back({printed.at, printed.value});
        }
        return curve_svg(curve);
    }
    curve.x_title = sweep_word(result.workload.sweep.over);
    curve.y_title = "read and write (MB/s)";
    for (const LoadStep& step : result.steps)
        curve.measured.push_back({step.at, (step.all.read_bytes_per_s + step.all.write_bytes_per_s) / 1e6});
    for (const PrintedFigure& printed : result.workload.printed) {
        if (printed.quantity.ends_with("bytes_per_s"))
            curve.printed.push_back({printed.at, printed.value / 1e6});
    }
    return curve_svg(curve);
}

std::string paragraphs(const std::vector<std::string>& sentences) {
    std::string out;
    for (const std::string& sentence : sentences) out += paragraph(escaped(sentence));
    return out;
}

std::string tables_html(const std::vector<Table>& tables) {
    std::string out;
    for (const Table& table : tables) out += table_html(table);
    return out;
}

/// Title, warnings and set-up.
std::string header(const LoadResult& result) {
    const Workload& workload = result.workload;
    std::string out = fmt::format(
        "<header class=\"verdict {}\">\n<p class=\"kind\">streamsim load report</p>\n<h1>{}</h1>\n",
        all_passed(result) ? "good" : "bad", escaped(workload.title.empty() ? workload.name : workload.title));
    if (const std::string text = disclaimer_text(result.common); !text.empty())
        out += paragraph(escaped((result.common.faults_injected ? "FAULTS INJECTED: " : "") + text), "warning");
    for (const std::string& reason : failures(result)) out += paragraph(escaped(reason), "warning");
    if (result.interrupted) out += paragraph("Interrupted: the last step is not whole.", "warning");
    if (result.common.model)
        out += paragraph("<strong>Modelled.</strong> This is no measurement: no storage was used.", "warning");
    if (result.scale != 1) {
        out +=
            paragraph(fmt::format("<strong>Scaled by {:g}.</strong> Its figures are not those of the source.",
                                  result.scale),
                      "warning");
    }
    html::Facts facts;
    if (!workload.description.empty()) facts.add("Load", escaped(workload.description));
    if (!workload.basis.empty()) facts.add("From", escaped(workload.basis));
    facts.add(judges_storage(result.common) ? "Storage" : "Target",
              html::name(result.common.url) + ", " + escaped(result.common.io));
    facts.add("Date", escaped(result.common.started_at));
    facts.add("streamsim", escaped(result.common.version + " (" + result.common.revision + ")"));
    return out + facts.html() + "</header>\n";
}

}  // namespace

std::string load_html_report(const LoadResult& result) {
    std::string out = html::project_html(result.common.project) + header(result);
    out += section("steps", "Result",
                   curve_of(result) + table_html(steps_table(result)) + paragraphs(cache_sentences(result)) +
                       paragraphs(latency_definitions(result)));
    if (result.workload.report == Workload::Report::modes)
        out += section("modes", "By mode and block size", tables_html(modes_tables(result, SIZE_MAX)));
    if (!result.printed.empty())
        out +=
            section("printed", "Printed by the source, and measured here", table_html(printed_table(result)));
    if (!result.steps.empty() && result.steps.back().clients.size() > 1)
        out += section("clients", "Clients", table_html(clients_table(result.steps.back())));
    return html::document({.title = "streamsim: " + result.workload.title, .main = out, .data = ""});
}

}  // namespace streamsim::report
