#include "report/facts/play_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

/// A clause a line: the sentences for an engineer are long.
void add_clauses(std::string_view heading, std::string_view text, ReportLines& out) {
    while (!text.empty()) {
        const std::size_t end = text.find("; ");
        out.add(heading, printable(std::string(text.substr(0, end))));
        heading = "";
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    }
}

std::string attributed_text(const RunResult& result) {
    std::string out;
    for (const CauseResult& cause : result.causes) {
        out += fmt::format("{}{} to {}", out.empty() ? "" : ", ",
                           cause.stalls > 0 ? counted(cause.stalls, "stall") : counted(cause.frames, "frame"),
                           to_string(cause.cause));
    }
    return out;
}

std::string repetition_text(const PlaceTest& test) {
    switch (test.answer) {
        case PlaceTest::Answer::nothing_missed: break;
        case PlaceTest::Answer::one_pass: return "unknown: the clips were played once";
        case PlaceTest::Answer::everywhere:
            return "unknown: so many frames were missed that the same ones on each pass prove nothing";
        case PlaceTest::Answer::same_place:
            return fmt::format("the same frames on each pass ({} of {}): this points to the media",
                               show_count(test.every_pass), counted(test.places, "frame"));
        case PlaceTest::Answer::random: return "other frames on each pass: this speaks against the media";
    }
    return {};
}

/// Missed frames by who was late: the storage or this computer.
std::string late_text(const RunResult& result) {
    const char* late = "read too late";
    if (records(result)) late = judges_storage(result) ? "by the storage" : "read or written too late";
    std::string client = "because this computer did not run the player";
    if (result.model) client = records(result) ? client + " or decoded too late" : "decoded too late";
    std::string out;
    for (const auto& [count, text] :
         {std::pair{result.reasons.late, std::string(late)}, {result.reasons.client, client}}) {
        if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", show_count(count), text);
    }
    return out;
}

bool anything_due(const FrameCounts& counts) {
    return counts.on_time + missed(counts) > 0;
}

std::string throughput_text(const RunResult& result) {
    std::string out = show_rate(result.read_bytes_per_s) + " over the whole run";
    if (result.required_bytes_per_s > 0)
        out += ", " + show_rate(result.required_bytes_per_s) +
               (result.required_rates.empty() ? " required while playing" : " required at the peak");
    if (result.model && !result.probes.empty())
        out += fmt::format("; {} at most without deadlines", show_rate(result.probes.front().bytes_per_s));
    return fmt::format("{} ({} in {})", out, show_bytes(result.totals.bytes_read),
                       show_duration({result.wall_ns}));
}

std::string start_text(const RunResult& result) {
    const auto slowest = std::max_element(
        result.streams.begin(), result.streams.end(),
        [](const StreamResult& a, const StreamResult& b) { return a.start_delay_ns < b.start_delay_ns; });
    return fmt::format("play began after {} of {}{}", show_duration({slowest->start_delay_ns}),
                       only_records(result) ? "creating the files to record into" : "preroll",
                       result.streams.size() > 1 ? " (slowest stream)" : "");
}

}  // namespace

void add_cause_lines(const RunResult& result, ReportLines& out) {
    add_clauses(result.verdict.pass ? "Reason" : "Cause", result.verdict.reason, out);
    if (!result.verdict.pass) out.add("Limit", to_string(result.verdict.limit));
    add_clauses("Detail", result.verdict.detail, out);
    if (!result.verdict.next.empty()) out.add("Next", printable(result.verdict.next));
    if (result.causes.size() > 1) out.add("Attributed", attributed_text(result));
    if (!result.model && judges_storage(result) && result.places.answer != PlaceTest::Answer::nothing_missed)
        out.add("Repetition", repetition_text(result.places));
}

void add_frames_lines(const RunResult& result, ReportLines& out) {
    const FrameCounts& totals = result.totals;
    std::string text =
        fmt::format("{} scheduled: {} on time, {} dropped, {} late, {} failed", show_count(totals.scheduled),
                    show_count(totals.on_time), show_count(totals.dropped), show_count(totals.late),
                    show_count(totals.failed));
    if (totals.cancelled > 0) text += fmt::format(", {} cancelled", show_count(totals.cancelled));
    out.add("Frames", text);
    if (totals.startup_drops > 0)
        out.add("", counted(totals.startup_drops, "drop") + " in the first second do not count in the verdict");
    if (totals.stalls > 0)
        out.add("Stalls",
                fmt::format("{}, {} in all", show_count(totals.stalls), show_duration({totals.stall_ns})));
    const ReasonCounts& reasons = result.reasons;
    if (reasons.late + reasons.client > 0) out.add("Missed", late_text(result));
    if (totals.failed > 0) {
        out.add("Failed", fmt::format("{}, {} cut short, {} missing",
                                      counted(reasons.error, records(result) ? "error" : "read error"),
                                      show_count(reasons.short_read), show_count(reasons.missing)));
    }
}

void add_delivery_lines(const RunResult& result, ReportLines& out) {
    if (!only_records(result)) out.add("Throughput", throughput_text(result));
    if (const std::string steps = required_text(result); !steps.empty()) out.add("Required", steps);
    if (records(result)) {
        const double seconds = static_cast<double>(result.wall_ns) * 1e-9;
        const auto written = static_cast<double>(result.totals.bytes_written);
        out.add("Recorded",
                fmt::format("{} ({} in {})", show_rate(seconds > 0 ? written / seconds : 0),
                            show_bytes(result.totals.bytes_written), show_duration({result.wall_ns})));
    }
    if (paced(result) && anything_due(result.totals)) out.add("Start", start_text(result));
    if (result.margin_ns) out.add("Margin", show_margin(*result.margin_ns));
    if (result.service_ns) out.add("Latency", "service: " + show_latency(*result.service_ns));
    if (result.response_ns) out.add("", "response: " + show_latency(*result.response_ns));
    if (result.open_ns) out.add("", "open: " + show_latency(*result.open_ns));
    if (result.totals.seeks > 0) {
        std::string text = counted(result.totals.seeks, "seek");
        if (result.seek_ns) text += ", to the first frame: " + show_latency(*result.seek_ns);
        out.add("Seeks", text);
    }
}

std::string required_text(const RunResult& result) {
    constexpr std::size_t kStepsMax = 6;
    const std::vector<RequiredRate>& steps = result.required_rates;
    std::string out;
    for (std::size_t i = 0; i + 1 < std::min(steps.size(), kStepsMax + 1); ++i) {
        out += fmt::format("{}{} from {}", out.empty() ? "" : ", ", show_rate(steps[i].bytes_per_s),
                           show_duration({steps[i].t_ns}));
    }
    if (steps.size() < 2) return out;
    if (steps.size() > kStepsMax + 1)
        return out + fmt::format(", and {} more (required_rates in --json)",
                                 counted(steps.size() - 1 - kStepsMax, "step"));
    return out + " to " + show_duration({steps.back().t_ns});
}

}  // namespace streamsim::report
