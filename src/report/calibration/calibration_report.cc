#include "report/calibration/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/units.h"
#include "report/html/charts.h"
#include "report/html/html_page.h"
#include "report/html/html_report.h"
#include "report/html/html_text.h"
#include "report/tables/table.h"
#include "report/text/screen.h"

namespace streamsim::report {
namespace {

std::string show_ns(double ns) {
    return show_duration(Duration{std::llround(ns)});
}

/// In the unit that the last word of the pointer names.
std::string show_value(const std::string& pointer, double value) {
    if (pointer.ends_with("bits_per_s")) return fmt::format("{:.3g} Gb/s", value / 1e9);
    if (pointer.ends_with("bytes_per_s")) return show_rate(value);
    if (pointer.ends_with("cpu_s_per_byte")) return fmt::format("{:.3g} ns", value * 1e9);
    if (pointer.ends_with("cpu_s_per_open")) return show_ns(value * 1e9);
    const bool time = pointer.find("/access/") != std::string::npos ||
                      pointer.find("/response/") != std::string::npos || pointer.ends_with("latency") ||
                      pointer.ends_with("mean_length") || pointer.ends_with("mean_gap");
    return time ? show_ns(value) : fmt::format("{:.3g}", value);
}

/// Only the low was measured; a value above it is assumed.
bool is_bound(const CalibratedNumber& number) {
    return !number.high && number.low > 0;
}

std::string interval_of(const CalibratedNumber& number) {
    if (number.high)
        return fmt::format("{} to {}", show_value(number.pointer, number.low),
                           show_value(number.pointer, *number.high));
    if (!is_bound(number)) return "";
    return number.free ? "at least" : "at least, never full";
}

Table numbers_of(const Calibration& calibration) {
    Table table;
    table.title = "Numbers of the model";
    table.left({"number"});
    table.right({"value"});
    table.left({"90 % interval", "from"});
    table.left({"basis"}, Keep::always, Form::page);
    for (const CalibratedNumber& number : calibration.values) {
        if (number.basis.starts_with("assumed") && !is_bound(number)) continue;
        const double value = is_bound(number) ? number.low : number.value;
        table.row({number.name, show_value(number.pointer, value), interval_of(number),
                   number.free ? "fit" : "probe", number.basis});
    }
    return table;
}

std::string show_quantity(const FitResidual& residual, double value) {
    if (residual.unit == "ns") return show_ns(value);
    if (residual.unit == "bytes/s") return show_rate(value);
    return show_count(static_cast<std::uint64_t>(std::llround(value))) + "/s";
}

Table residuals_of(const Calibration& calibration, bool all) {
    Table table;
    table.title = "Probes beside the model";
    table.left({"probe", "quantity"});
    table.right({"measured", "model", "differs"});
    table.left({"used"});
    for (const FitResidual& residual : calibration.residuals) {
        if (!all && residual.quantity != "rate" && residual.probe != "latency-1m") continue;
        const double percent = residual.measured > 0 ? 100 * (residual.fitted / residual.measured - 1) : 0;
        table.row({residual.probe, residual.quantity, show_quantity(residual, residual.measured),
                   show_quantity(residual, residual.fitted), fmt::format("{:+.1f} %", percent),
                   residual.used ? "by the fit" : "compared"});
    }
    return table;
}

std::string held_back_text(const Calibration& calibration) {
    if (!calibration.held_back) return "held-back run: none was measured";
    const HeldBackCheck& check = *calibration.held_back;
    const bool inside = check.low <= check.measured.streams && check.measured.streams <= check.high;
    const std::string& bound = check.measured.at_least;
    return fmt::format("held-back run: {}{} streams of {} play{}; the model predicts {} ({} to {}, 90 %): {}",
                       bound.empty() ? "" : "at least ", check.measured.streams, check.measured.format,
                       bound.empty() ? "" : " (" + bound + ")", check.predicted, check.low, check.high,
                       check.rejected   ? "REJECTED, do not predict from this model"
                       : !check.tells() ? "too few to check the model"
                       : inside         ? "as predicted"
                                        : "outside of that, by one stream or 10 %: predictions are widened");
}

std::string verdict_line(const Calibration& calibration) {
    const Measurement& measured = calibration.measured;
    return fmt::format("{} {} from {} seat{}",
                       calibration.held_back && calibration.held_back->rejected ? "REJECTED" : "CALIBRATED",
                       measured.target, measured.seats, measured.seats == 1 ? "" : "s");
}

std::string error_text(const Calibration& calibration) {
    return fmt::format("rates of the ladder differ by {:.1f} % between model and probes (standard deviation)",
                       100 * calibration.model_error);
}

/// The measured ladder as points and the model's as a line, over the reads in flight.
struct Ladder {
    OrderedJson at = OrderedJson::array(), measured = OrderedJson::array(), fitted = OrderedJson::array();
    double most = 0;
};

/// The value of a ladder's step for a quantity, of what was measured and of the model.
Ladder ladder_of(const Calibration& calibration, const std::string& quantity, double unit) {
    Ladder ladder;
    for (const ProbeRow& row : calibration.measured.rows) {
        if (row.probe.kind != ProbeKind::ladder) continue;
        const auto found = std::find_if(
            calibration.residuals.begin(), calibration.residuals.end(), [&](const FitResidual& residual) {
                return residual.probe == row.probe.id && residual.quantity == quantity;
            });
        if (found == calibration.residuals.end()) continue;
        ladder.at.push_back(row.probe.all_inflight());
        ladder.measured.push_back(std::round(found->measured / unit * 100) / 100);
        ladder.fitted.push_back(std::round(found->fitted / unit * 100) / 100);
        ladder.most = std::max(ladder.most, static_cast<double>(row.probe.all_inflight()));
    }
    return ladder;
}

std::string ladder_figure(const Calibration& calibration,
                          const std::string& quantity,
                          const std::string& id,
                          const std::string& unit,
                          double unit_size,
                          html::Charts& charts) {
    const Ladder ladder = ladder_of(calibration, quantity, unit_size);
    if (ladder.at.size() < 2) return {};
    OrderedJson series = OrderedJson::array();
    series.push_back({{"label", "model"}, {"role", "line"}, {"x", ladder.at}, {"y", ladder.fitted}});
    series.push_back({{"label", "measured"},
                      {"role", "bad"},
                      {"x", ladder.at},
                      {"y", ladder.measured},
                      {"dots", true},
                      {"mark", "rectRot"}});
    const std::string label = fmt::format("{} in {} against reads in flight", quantity, unit);
    return charts.add(id,
                      {{"kind", "xy"},
                       {"x", "reads in flight"},
                       {"y", fmt::format("{} in {}", quantity, unit)},
                       {"unit", unit},
                       {"most", ladder.most},
                       {"series", series}},
                      label, html::escaped(label) + "; diamonds: measured; line: the model.");
}

}  // namespace

std::string probe_finding(const ProbeRow& row) {
    if (row.operations == 0) return fmt::format("nothing was done, {} failed", show_count(row.failed));
    std::string out = row.probe.kind == ProbeKind::opens
                          ? show_count(static_cast<std::uint64_t>(row.operations_per_s)) + " opens/s"
                          : show_rate(row.bytes_per_s);
    if (row.response_ns.max > 0)
        out += fmt::format(", median {}, p99 {}", show_ns(static_cast<double>(row.response_ns.p50)),
                           show_ns(static_cast<double>(row.response_ns.p99)));
    if (row.failed > 0) out += fmt::format(", {} failed", show_count(row.failed));
    return out;
}

std::string calibration_text_report(const Calibration& calibration) {
    std::string out = verdict_line(calibration) + "\n\n";
    out += table_text(numbers_of(calibration)) + "\n";
    out += table_text(residuals_of(calibration, false)) + "\n";
    out += error_text(calibration) + "\n";
    for (const std::string& note : calibration.notes) out += "note: " + note + "\n";
    return out + held_back_text(calibration) + "\n";
}

std::string calibration_html_report(const Calibration& calibration) {
    html::Charts charts;
    const bool rejected = calibration.held_back && calibration.held_back->rejected;
    std::string out = fmt::format(
        "<header class=\"verdict {}\">\n<p class=\"kind\">streamsim calibration</p>\n<h1><span "
        "class=\"sentence\">{}</span></h1>\n<p>{}</p>\n</header>\n",
        rejected ? "bad" : "good", html::escaped(verdict_line(calibration)),
        html::escaped(held_back_text(calibration)));
    std::string notes = html::paragraph(html::escaped(error_text(calibration)));
    for (const std::string& note : calibration.notes) notes += html::paragraph(html::escaped(note));
    out += html::section("notes", "What it tells, and what not", notes);
    out += html::section("ladder", "The ladder, and the fit through it",
                         ladder_figure(calibration, "rate", "rate", "MB/s", 1e6, charts) +
                             ladder_figure(calibration, "median response", "response", "ms", 1e6, charts));
    for (Table table : {numbers_of(calibration), residuals_of(calibration, true)}) {
        const std::string title = std::exchange(table.title, "");
        out += html::section(table.columns.front().heading, title, html::table_html(table));
    }
    html::Facts facts;
    const Measurement& measured = calibration.measured;
    facts.add("Target", html::name(measured.target));
    facts.add("Date", fmt::format("<time>{}</time>", html::escaped(measured.started_at)));
    facts.add("Computer", html::name(fmt::format("{}, {}", measured.computer, measured.os)));
    facts.add("Files of the probes", html::escaped(show_bytes(measured.set_bytes)));
    out += html::section("about", "Set-up", facts.html());
    return html::document({.title = "streamsim: calibration",
                           .main = out,
                           .data = charts.data(),
                           .begins = kCalibrationHtmlBegins});
}

}  // namespace streamsim::report
