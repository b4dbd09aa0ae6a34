#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/facts/headline.h"
#include "report/facts/show.h"
#include "report/html/charts.h"
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

constexpr const char* kMeasured = "measured here";
constexpr const char* kPrinted = "printed by the source";

/// Points of a curve, measured and printed.
struct Curve {
    std::string id, x, y, unit;
    OrderedJson measured_x = OrderedJson::array(), measured_y = OrderedJson::array();
    OrderedJson printed_x = OrderedJson::array(), printed_y = OrderedJson::array();
    double most = 0;

    void measure(double at, double value) {
        measured_x.push_back(at);
        measured_y.push_back(value);
        most = std::max(most, at);
    }
    void print(double at, double value) {
        printed_x.push_back(at);
        printed_y.push_back(value);
        most = std::max(most, at);
    }
};

std::string curve_figure(const Curve& curve, html::Charts& charts) {
    if (curve.measured_x.size() + curve.printed_x.size() < 2) return {};
    OrderedJson series = OrderedJson::array();
    series.push_back(
        {{"label", kMeasured}, {"role", "line"}, {"x", curve.measured_x}, {"y", curve.measured_y}});
    if (!curve.printed_x.empty())
        series.push_back({{"label", kPrinted},
                          {"role", "bad"},
                          {"x", curve.printed_x},
                          {"y", curve.printed_y},
                          {"dots", true},
                          {"mark", "rectRot"}});
    const std::string label = fmt::format("{} against {}", curve.y, curve.x);
    return charts.add(curve.id,
                      {{"kind", "xy"},
                       {"x", curve.x},
                       {"y", curve.y},
                       {"unit", curve.unit},
                       {"most", curve.most},
                       {"series", series}},
                      label,
                      escaped(label) + (curve.printed_x.empty() ? "." : "; diamonds: printed by the source."));
}

/// Latency against operations if the workload asks for it, else rate and latency over the steps.
std::string curves_of(const LoadResult& result, html::Charts& charts) {
    if (result.steps.size() < 2) return {};
    if (result.workload.report == Workload::Report::curve) {
        Curve curve{.id = "curve", .x = "operations/s", .y = "mean latency in ms", .unit = "ms"};
        for (const LoadStep& step : result.steps)
            curve.measure(step.all.operations_per_s, step.all.latency_mean_ns / 1e6);
        for (const auto& [printed, measured] : result.printed) {
            if (printed.quantity == "latency_ms") curve.print(printed.at, printed.value);
        }
        return curve_figure(curve, charts);
    }
    const std::string x = sweep_word(result.workload.sweep.over);
    Curve rate{.id = "rate", .x = x, .y = "read and write in MB/s", .unit = "MB/s"};
    Curve operations{.id = "operations", .x = x, .y = "operations/s", .unit = "/s"};
    Curve latency{.id = "latency", .x = x, .y = "mean latency in ms", .unit = "ms"};
    for (const LoadStep& step : result.steps) {
        rate.measure(step.at, (step.all.read_bytes_per_s + step.all.write_bytes_per_s) / 1e6);
        operations.measure(step.at, step.all.operations_per_s);
        latency.measure(step.at, step.all.latency_mean_ns / 1e6);
    }
    for (const auto& [printed, measured] : result.printed) {
        if (printed.quantity.starts_with("peak")) continue;
        if (printed.quantity.ends_with("bytes_per_s")) rate.print(printed.at, printed.value / 1e6);
        if (printed.quantity == "operations_per_s") operations.print(printed.at, printed.value);
        if (printed.quantity == "latency_ms") latency.print(printed.at, printed.value);
    }
    return "<div class=\"few\">\n" + curve_figure(rate, charts) + curve_figure(operations, charts) +
           curve_figure(latency, charts) + "</div>\n";
}

/// The only step over time: the meters together.
std::string time_figures(const LoadResult& result, html::Charts& charts) {
    if (result.steps.size() != 1) return {};
    std::int64_t interval_ns = 0;
    std::size_t points = 0;
    for (const MeterResult& meter : result.steps.front().result.meters) {
        if (interval_ns != 0 && meter.interval_ns != interval_ns) return {};
        interval_ns = meter.interval_ns;
        points = std::max(points, meter.series.size());
    }
    if (points < 2 || interval_ns <= 0) return {};
    // The last interval is shorter than the others.
    std::vector<double> bytes(points - 1);
    std::vector<double> operations(points - 1);
    for (const MeterResult& meter : result.steps.front().result.meters) {
        for (std::size_t i = 0; i + 1 < points && i < meter.series.size(); ++i) {
            bytes[i] += static_cast<double>(meter.series[i].bytes);
            operations[i] += static_cast<double>(meter.series[i].operations);
        }
    }
    OrderedJson steps = OrderedJson::array();
    for (std::size_t i = 0; i < points; ++i)
        steps.push_back(html::to_seconds(static_cast<std::int64_t>(i) * interval_ns));
    charts.end_at(static_cast<std::int64_t>(points - 1) * interval_ns);
    charts.axis("t", steps);
    const auto figure = [&](const char* id, const char* unit, const char* what, const std::vector<double>& sums,
                            double scale) {
        OrderedJson values = OrderedJson::array();
        for (const double sum : sums)
            values.push_back(std::round(sum * scale * 1e9 / static_cast<double>(interval_ns) * 100) / 100);
        values.push_back(values.back());
        const OrderedJson series = {
            {"label", what}, {"role", "line"}, {"x", "t"}, {"y", values}, {"step", true}};
        return charts.add(
            id, {{"kind", "time"}, {"y", unit}, {"unit", unit}, {"series", {series}}},
            fmt::format("{} over time", what),
            fmt::format("{}, all meters together, in steps of {}.", what, show_duration({interval_ns})), true);
    };
    return figure("rate", "MB/s", "Read and write", bytes, 1e-6) +
           figure("operations", "/s", "Operations", operations, 1);
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

std::string key_figure(const std::string& term, const std::string& figure, const std::string& note) {
    return fmt::format("<div><dt>{}</dt><dd class=\"figure\">{}</dd><dd>{}</dd></div>\n", term, figure, note);
}

/// The figures of the step with the highest rate of operations.
std::string key_figures(const LoadResult& result) {
    if (result.steps.empty()) return {};
    const LoadStep& step = *std::ranges::max_element(
        result.steps, {}, [](const LoadStep& each) { return each.all.operations_per_s; });
    const std::string at = show_step(result.workload, step.at);
    const std::string note =
        at.empty() ? "all clients" : "at " + at + " " + sweep_word(result.workload.sweep.over) + ", the most";
    std::string out = "<dl class=\"figures\">\n";
    out += key_figure("Operations", show_per_second(step.all.operations_per_s) + "/s", note);
    if (step.all.read_bytes_per_s > 0) out += key_figure("Read", show_rate(step.all.read_bytes_per_s), note);
    if (step.all.write_bytes_per_s > 0)
        out += key_figure("Written", show_rate(step.all.write_bytes_per_s), note);
    out += key_figure("Mean latency", show_duration({std::llround(step.all.latency_mean_ns)}), note);
    if (step.all.operations > 0)
        out += key_figure("Max latency", show_duration({step.all.latency_max_ns}), note);
    std::uint64_t failed = 0;
    for (const LoadStep& each : result.steps) failed += each.all.failed;
    out += key_figure("Failed operations", show_count(failed), "in all steps");
    return out + "</dl>\n";
}

/// Title, verdict and warnings.
std::string header(const LoadResult& result) {
    const Workload& workload = result.workload;
    const bool passed = all_passed(result);
    std::string out = fmt::format(
        "<header class=\"verdict {}\">\n<p class=\"kind\">streamsim load report</p>\n<h1><span "
        "class=\"word\">{}</span><span class=\"colon\">: </span><span class=\"sentence\">{}</span></h1>\n",
        !passed              ? "bad"
        : result.interrupted ? "doubtful"
                             : "good",
        load_word(result), escaped(workload.title.empty() ? workload.name : workload.title));
    if (const std::string text = disclaimer_text(result.common); !text.empty())
        out += paragraph(escaped((result.common.faults_injected ? "FAULTS INJECTED: " : "") + text), "warning");
    for (const std::string& reason : failures(result)) out += paragraph(escaped(reason), "warning");
    if (result.interrupted)
        out += paragraph("Interrupted: the last step is not whole, or steps are missing.", "warning");
    if (result.common.model)
        out += paragraph("<strong>Modelled.</strong> This is no measurement: no storage was used.", "warning");
    for (const std::string& text : scale_sentences(result)) out += paragraph(escaped(text), "warning");
    return out + "</header>\n";
}

std::string about(const LoadResult& result) {
    const Workload& workload = result.workload;
    const RunResult& common = result.common;
    html::Facts facts;
    facts.add("Date", fmt::format("<time>{}</time>", escaped(common.started_at)));
    if (!workload.description.empty()) facts.add("Load", escaped(workload.description));
    if (!workload.basis.empty()) facts.add("From", escaped(workload.basis));
    facts.add("Steps",
              fmt::format("{} of {}", show_count(result.steps.size()), show_duration(workload.duration)));
    facts.add(judges_storage(common) ? "Storage" : "Target",
              html::name(common.url) + ", " + escaped(common.io));
    facts.add(
        common.seats.size() > 1 ? "Computer of rank 0" : "Computer",
        html::name(fmt::format("{}: {}, {}, {} of memory", common.host.name, common.host.os,
                               counted(common.host.cpus, "processor"), show_bytes(common.host.memory_bytes))));
    facts.add("Command", "<code>" + html::name(html::show_command(common.command)) + "</code>");
    facts.add("streamsim", escaped(common.version + " (" + common.revision + ")"));
    return section("about", "Set-up", facts.html());
}

}  // namespace

std::string load_html_report(const LoadResult& result) {
    html::Charts charts;
    std::string out = html::project_html(result.common.project) + header(result) + key_figures(result);
    const std::string omitted = omitted_rows_sentence(result);
    out += section("steps", "Result",
                   curves_of(result, charts) + time_figures(result, charts) + table_html(steps_table(result)) +
                       table_html(counters_table(result)) + paragraphs(cache_sentences(result)) +
                       (omitted.empty() ? "" : paragraph(omitted)) + paragraphs(latency_definitions(result)));
    const std::string left_out = not_compared(result);
    if (!result.printed.empty() || !left_out.empty())
        out +=
            section("printed", "Printed by the source, and measured here",
                    table_html(printed_table(result)) + (left_out.empty() ? "" : paragraph(left_out, "note")));
    if (result.workload.report == Workload::Report::modes)
        out += section("modes", "By mode and block size",
                       paragraph("The darker a cell, the larger its value in the table.", "note") +
                           tables_html(modes_tables(result, SIZE_MAX)));
    if (const Table buffers = buffers_table(result); !buffers.empty())
        out += section("buffers", "Buffers", paragraph(escaped(buffer_sentence(result))) + table_html(buffers));
    if (!result.steps.empty() && result.steps.back().clients.size() > 1)
        out += section("clients", "Clients", table_html(clients_table(result.steps.back())));
    if (result.common.seats.size() > 1 && !result.steps.empty())
        out += section("computers", "Computers", table_html(computers_table(result.steps.back())));
    out += about(result);
    return html::document({.title = "streamsim: " + result.workload.title,
                           .main = out,
                           .data = charts.empty() ? "" : charts.data(),
                           .begins = kLoadHtmlBegins});
}

}  // namespace streamsim::report
