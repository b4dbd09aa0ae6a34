#include "report/html/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/units.h"
#include "report/facts/run_lines.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"
#include "report/html/html_text.h"
#include "result/required_rates.h"

namespace streamsim::report::html {
namespace {

constexpr std::size_t kChartPoints = 1100;
constexpr std::size_t kPartsShown = 6;
constexpr std::int64_t kSmoothNs = 1'000'000'000;
constexpr const char* kStepAxis = "t";
constexpr const char* kMiddleAxis = "m";

std::vector<TimelineEntry> entries_of(const RunResult& result) {
    return coarser(of_play(result.timeline), kChartPoints);
}

double middle_s(std::int64_t t_ns, std::int64_t interval_ns) {
    return to_seconds(t_ns + interval_ns / 2);
}

OrderedJson optional_ms(const std::optional<std::int64_t>& ns) {
    return ns ? OrderedJson(to_ms(*ns)) : OrderedJson(nullptr);
}

/// A series over the axis `x`, with what is drawn as in report.js.
OrderedJson series(
    const std::string& label, const char* role, OrderedJson x, OrderedJson y, OrderedJson more = {}) {
    OrderedJson out = {{"label", label}, {"role", role}, {"x", std::move(x)}, {"y", std::move(y)}};
    for (const auto& [key, value] : more.items()) out[key] = value;
    return out;
}

/// A step reaches to the beginning of the next: the last value stands twice.
OrderedJson held(OrderedJson values) {
    if (!values.empty()) values.push_back(values.back());
    return values;
}

/// The rate that play and recorders need together: the time line has the bytes of both.
struct NeededRate {
    std::vector<RequiredRate> steps;  // empty: `most` all the time
    double most = 0;                  // bytes a second

    bool is_known() const { return std::isfinite(most) && most > 0; }
};

NeededRate needed_rate(const RunResult& result) {
    if (!records(result)) return {result.required_rates, result.required_bytes_per_s};
    NeededRate out{result::required_rates(result.streams, true), 0};
    out.most = result::highest(out.steps);
    if (!out.steps.empty()) return out;
    for (const StreamResult& stream : result.streams) {
        if (stream.paced) out.most += stream.required_bytes_per_s;
    }
    return out;
}

OrderedJson required_series(const NeededRate& needed, std::int64_t end_ns) {
    OrderedJson x = OrderedJson::array();
    OrderedJson y = OrderedJson::array();
    for (const RequiredRate& step : needed.steps) {
        x.push_back(to_seconds(step.t_ns));
        y.push_back(to_mb(step.bytes_per_s));
    }
    if (needed.steps.empty()) {
        x = {0, to_seconds(end_ns)};
        y = {to_mb(needed.most), to_mb(needed.most)};
    }
    return series("required", "ink", std::move(x), std::move(y), {{"step", true}, {"dash", true}});
}

/// The mean rate over the second that ends with each step, or over a step that is longer, in bytes a second.
std::vector<double> smooth_rates(const std::vector<TimelineEntry>& entries) {
    std::vector<double> out;
    double bytes = 0;
    for (std::size_t first = 0, i = 0; i < entries.size(); ++i) {
        bytes += static_cast<double>(entries[i].bytes);
        const std::int64_t end_ns = entries[i].t_ns + entries[i].interval_ns;
        while (first < i && entries[first].t_ns + kSmoothNs < end_ns)
            bytes -= static_cast<double>(entries[first++].bytes);
        out.push_back(bytes * 1e9 / static_cast<double>(end_ns - entries[first].t_ns));
    }
    return out;
}

bool has_margins(const RunResult& result) {
    return std::ranges::any_of(result.timeline, [](const TimelineEntry& entry) {
        return entry.t_ns >= 0 && entry.margin_ns_min.has_value();
    });
}

std::string missed_figure(const std::vector<TimelineEntry>& entries, Charts& charts) {
    const auto counts = [&entries](std::uint64_t TimelineEntry::*count) {
        return held(array_of(entries, [count](const TimelineEntry& entry) { return entry.*count; }));
    };
    OrderedJson shown = OrderedJson::array();
    const char* const roles[] = {"bad", "doubtful", "ink"};
    const std::pair<const char*, std::uint64_t TimelineEntry::*> kinds[] = {
        {"dropped", &TimelineEntry::frames_dropped},
        {"late", &TimelineEntry::frames_late},
        {"failed", &TimelineEntry::frames_failed}};
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < std::size(kinds); ++i) {
        std::uint64_t sum = 0;
        for (const TimelineEntry& entry : entries) sum += entry.*kinds[i].second;
        all += sum;
        if (sum > 0)
            shown.push_back(
                series(kinds[i].first, roles[i], kStepAxis, counts(kinds[i].second), {{"step", true}}));
    }
    if (all == 0) return {};
    return charts.add("missed",
                      {{"kind", "time"}, {"y", "frames missed"}, {"unit", "frames"}, {"series", shown}},
                      fmt::format("Missed frames over time: {} in all", show_count(all)),
                      "How many frames were missed in each step.", true);
}

std::string buffer_figure(const RunResult& result, const std::vector<TimelineEntry>& entries, Charts& charts) {
    std::optional<std::uint64_t> least;
    for (const TimelineEntry& entry : entries) {
        if (entry.buffer_frames_min) least = std::min(least.value_or(UINT64_MAX), *entry.buffer_frames_min);
    }
    if (!least) return {};
    const auto value = [](const TimelineEntry& entry) {
        return entry.buffer_frames_min ? OrderedJson(*entry.buffer_frames_min) : OrderedJson(nullptr);
    };
    return charts.add("buffer",
                      {{"kind", "time"},
                       {"y", "buffered"},
                       {"unit", "frames"},
                       {"most", result.readahead},
                       {"series", {series("min buffer", "line", kMiddleAxis, array_of(entries, value))}}},
                      fmt::format("Min buffered frames over time: {} at least", *least),
                      fmt::format("The fewest complete frames that a stream had ahead, of {} at most.",
                                  show_count(result.readahead)),
                      true);
}

OrderedJson histogram(const std::vector<MarginBin>& bins, const char* x, const char* label) {
    return {{"kind", "bars"},
            {"x", x},
            {"label", label},
            {"from", array_of(bins, [](const MarginBin& bin) { return to_ms(bin.from_ns); })},
            {"to", to_ms(bins.back().to_ns)},
            {"count", array_of(bins, [](const MarginBin& bin) { return bin.frames; })}};
}

}  // namespace

void begin_time_charts(const RunResult& result, Charts& charts) {
    const std::vector<TimelineEntry> entries = entries_of(result);
    if (entries.empty()) return;
    const std::int64_t end_ns = entries.back().t_ns + entries.back().interval_ns;
    charts.end_at(end_ns);
    OrderedJson steps = array_of(entries, [](const TimelineEntry& entry) { return to_seconds(entry.t_ns); });
    steps.push_back(to_seconds(end_ns));
    charts.axis(kStepAxis, std::move(steps));
    charts.axis(kMiddleAxis, array_of(entries, [](const TimelineEntry& entry) {
                    return middle_s(entry.t_ns, entry.interval_ns);
                }));
    for (const MissEvent& event : result.events) charts.event(event.from_ns, event.to_ns);
}

std::string throughput_figure(const RunResult& result, Charts& charts) {
    const std::vector<TimelineEntry> entries = entries_of(result);
    if (entries.empty()) return paragraph("Not recorded over time.", "none");
    const std::int64_t step_ns = entries.front().interval_ns;
    const std::int64_t end_ns = entries.back().t_ns + entries.back().interval_ns;
    const NeededRate needed = needed_rate(result);
    OrderedJson shown = OrderedJson::array();
    const bool smooth = step_ns * 2 <= kSmoothNs;
    const bool plays = !only_records(result);
    const std::string moved = !plays ? "recorded" : records(result) ? "read and recorded" : "read";
    shown.push_back(
        series(smooth ? moved + ", each step" : moved, "area", kStepAxis,
               held(array_of(entries, [](const TimelineEntry& entry) { return to_mb(bytes_per_s(entry)); })),
               {{"step", true}, {"fill", true}}));
    // A short step holds a whole frame or none: the axis is for the mean, and cuts such peaks.
    OrderedJson limit = nullptr;
    const auto [least, most] = std::ranges::minmax_element(entries, {}, bytes_per_s);
    if (smooth) {
        const std::vector<double> rates = smooth_rates(entries);
        const auto ends = [](const TimelineEntry& entry) { return to_seconds(entry.t_ns + entry.interval_ns); };
        shown.push_back(series(moved + ", mean of the last second", "line", array_of(entries, ends),
                               array_of(rates, to_mb)));
        // The first means are of a few steps.
        const auto settled = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 20);
        double high = *std::max_element(settled, rates.end());
        if (needed.is_known()) high = std::max(high, needed.most);
        if (bytes_per_s(*most) > 2 * high) limit = to_mb(2 * high);
    }
    if (needed.is_known()) shown.push_back(required_series(needed, end_ns));
    std::string label =
        fmt::format("Throughput over time, in steps of {}: min {}, max {}", show_duration({step_ns}),
                    show_rate(bytes_per_s(*least)), show_rate(bytes_per_s(*most)));
    std::string caption = label + ".";
    if (needed.is_known()) {
        label += "; required " + show_rate(needed.most);
        const std::string steps = required_text(result);
        caption +=
            (records(result) ? " The broken line is what all streams that play and record need together, "
                             : " The broken line is what all streams that play need together, ") +
            (steps.empty() || records(result) ? show_rate(needed.most) : "step by step: " + steps) +
            (plays ? ". The read-ahead was filled before 0:00, so that less is left to read at the end." : ".");
    }
    if (!result.events.empty()) caption += " Shaded: the events in which frames were missed.";
    return charts.add("throughput",
                      {{"kind", "time"},
                       {"y", "MB/s"},
                       {"unit", "MB/s"},
                       {"most", needed.is_known() ? OrderedJson(to_mb(needed.most) * 1.15) : OrderedJson(0)},
                       {"limit", limit},
                       {"series", shown}},
                      label, caption);
}

std::string margin_figures(const RunResult& result, Charts& charts) {
    if (!has_margins(result)) return paragraph("Margins over time: not recorded.", "none");
    const std::vector<TimelineEntry> entries = entries_of(result);
    const auto end_s = to_seconds(entries.back().t_ns + entries.back().interval_ns);
    OrderedJson shown = OrderedJson::array();
    shown.push_back(series("min margin", "line", kMiddleAxis, array_of(entries, [](const TimelineEntry& entry) {
                               return optional_ms(entry.margin_ns_min);
                           })));
    shown.push_back(series("deadline", "ink", {0, end_s}, {0, 0}, {{"dash", true}}));
    OrderedJson missed_at = OrderedJson::array();
    OrderedJson zeros = OrderedJson::array();
    for (const MissEvent& event : result.events) {
        missed_at.push_back(to_seconds(event.from_ns));
        zeros.push_back(0);
    }
    if (!missed_at.empty())
        shown.push_back(series("event", "bad", std::move(missed_at), std::move(zeros), {{"dots", true}}));
    const std::string least = result.margin_ns ? show_duration({result.margin_ns->min}) : "not known";
    return charts.add(
               "margin", {{"kind", "time"}, {"y", "margin in ms"}, {"unit", "ms"}, {"series", shown}},
               "Min margin over time; overall " + least,
               "The least margin of each step. Below the line at 0 a frame was late; a triangle marks the "
               "first frame of an event.") +
           missed_figure(entries, charts) + buffer_figure(result, entries, charts);
}

std::string margin_distribution_figure(const RunResult& result, Charts& charts) {
    if (result.margin_bins.empty()) return paragraph("Distribution of margins: not recorded.", "none");
    std::uint64_t late = 0;
    std::uint64_t all = 0;
    for (const MarginBin& bin : result.margin_bins) {
        all += bin.frames;
        if (bin.from_ns < 0) late += bin.frames;
    }
    const std::string words = fmt::format("{} of {} were complete before their deadline, {} after it",
                                          show_count(all - late), counted(all, "frame"), show_count(late));
    return charts.add(
        "distribution", histogram(result.margin_bins, "margin from, in ms", "before the deadline"),
        "Frames by margin: " + words, "How many frames had which margin, on a log axis: " + words + ".");
}

std::string latency_figures(const RunResult& result, Charts& charts) {
    std::string out;
    const std::vector<TimelineEntry> entries = entries_of(result);
    const bool known = std::ranges::any_of(
        entries, [](const TimelineEntry& entry) { return entry.service_ns_p99.has_value(); });
    if (known) {
        const auto times = [&entries](std::optional<std::int64_t> TimelineEntry::*member) {
            return array_of(entries,
                            [member](const TimelineEntry& entry) { return optional_ms(entry.*member); });
        };
        const auto longest = array_of(entries, [](const TimelineEntry& entry) {
            return entry.service_ns_p50 ? OrderedJson(to_ms(entry.service_ns_max)) : OrderedJson(nullptr);
        });
        out += charts.add("latency",
                          {{"kind", "time"},
                           {"y", "service in ms"},
                           {"unit", "ms"},
                           {"series",
                            {series("median", "line", kMiddleAxis, times(&TimelineEntry::service_ns_p50)),
                             series("p99", "doubtful", kMiddleAxis, times(&TimelineEntry::service_ns_p99)),
                             series("max", "bad", kMiddleAxis, longest)}}},
                          "Service time over time: median, p99 and max",
                          "From submission to completion of the frames that came in each step.");
    }
    if (!result.service_bins.empty())
        out += charts.add("service", histogram(result.service_bins, "service time from, in ms", "frames"),
                          "Frames by service time",
                          "How many frames took how long, from submission to completion, both on log axes.");
    return out;
}

std::string computer_figures(const RunResult& result, Charts& charts) {
    std::vector<ComputerInterval> during;
    const std::vector<TimelineEntry> entries = entries_of(result);
    const std::int64_t end_ns = entries.empty() ? 0 : entries.back().t_ns + entries.back().interval_ns;
    for (const ComputerInterval& interval : result.computer_timeline) {
        if (interval.t_ns + interval.interval_ns > 0 && interval.t_ns < end_ns) during.push_back(interval);
    }
    if (during.size() < 2) return {};
    const OrderedJson middles = array_of(during, [](const ComputerInterval& interval) {
        return std::max(0.0, middle_s(interval.t_ns, interval.interval_ns));
    });
    const auto percent = [](double share) { return std::round(share * 1000) / 10; };
    OrderedJson shown = OrderedJson::array();
    if (std::ranges::all_of(during, [](const ComputerInterval& each) { return each.cpu_busy.has_value(); }))
        shown.push_back(
            series("all processors", "line", middles,
                   array_of(during, [&](const ComputerInterval& each) { return percent(*each.cpu_busy); })));
    shown.push_back(
        series("streamsim, of one processor", "second", middles,
               array_of(during, [&](const ComputerInterval& each) { return percent(each.process_cpu); })));
    std::string out = charts.add(
        "processors", {{"kind", "time"}, {"y", "busy in %"}, {"unit", "%"}, {"most", 100}, {"series", shown}},
        "Processors of this computer over time",
        "How busy the processors of this computer were: all of them by all processes, and streamsim's own "
        "share "
        "of one.",
        true);
    const bool network = std::ranges::any_of(
        during, [](const ComputerInterval& each) { return each.received_bytes_per_s > 1'000'000; });
    if (!network) return out;
    const auto rate = [](const ComputerInterval& each) {
        return to_mb(static_cast<double>(each.received_bytes_per_s));
    };
    return out + charts.add("network",
                            {{"kind", "time"},
                             {"y", "received, MB/s"},
                             {"unit", "MB/s"},
                             {"series", {series("received", "line", middles, array_of(during, rate))}}},
                            "Bytes that this computer received over time",
                            "What the network interfaces of this computer received.", true);
}

std::string parts_figure(const RunResult& result, Charts& charts) {
    constexpr const char* kRoles[] = {"line", "bad", "good", "doubtful", "second", "third"};
    OrderedJson shown = OrderedJson::array();
    std::string names;
    for (const std::size_t index : fullest_parts(result, kPartsShown)) {
        const PartResult& part = result.parts[index];
        OrderedJson x = OrderedJson::array();
        OrderedJson y = OrderedJson::array();
        for (std::size_t i = 0; i < part.utilisation_per_interval.size(); ++i) {
            const std::int64_t t_ns = part.t_ns + static_cast<std::int64_t>(i) * part.stats.interval_ns;
            x.push_back(std::max(0.0, to_seconds(t_ns)));
            y.push_back(std::round(part.utilisation_per_interval[i] * 1000) / 10);
        }
        if (x.empty()) continue;
        names += (names.empty() ? "" : ", ") + part.stats.name;
        shown.push_back(
            series(part.stats.name, kRoles[shown.size()], std::move(x), std::move(y), {{"step", true}}));
    }
    if (shown.empty()) return {};
    return charts.add("parts",
                      {{"kind", "time"}, {"y", "busy in %"}, {"unit", "%"}, {"most", 100}, {"series", shown}},
                      "Utilisation of the busiest parts of the model over time: " + names,
                      "How busy the busiest parts of the model were.");
}

}  // namespace streamsim::report::html
