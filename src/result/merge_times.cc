#include "result/merge_times.h"

#include <algorithm>
#include <optional>

#include "result/required_rates.h"

namespace streamsim::result {
namespace {

/// Longer intervals rather than more of them.
constexpr std::int64_t kIntervalsMax = 16'384;

bool is_preroll(const TimelineEntry& entry) {
    return entry.t_ns < 0;
}

/// The interval of this length that holds most of the entry; time before the agreed instant is in the first.
std::int64_t interval_of(const TimelineEntry& entry, std::int64_t interval_ns) {
    return std::max<std::int64_t>((entry.t_ns + entry.interval_ns / 2) / interval_ns, 0);
}

/// The instant of the part's first read on its own axis, as near as its streams know.
std::int64_t begin_ns(const RunResult& part) {
    std::int64_t begin = INT64_MAX;
    for (const StreamResult& stream : part.streams)
        begin = std::min(begin, stream.play_start_ns - stream.start_delay_ns);
    return begin;
}

/// The zero of the part's own axis on the common one. Its first streams began at `start_ns`; where its start
/// groups begin one after another, its own axis began before them. Meters begin with the run, and so does
/// virtual time.
std::int64_t zero_ns(const RunResult& part) {
    const std::int64_t start_ns = part.seats.front().start_ns.value_or(0);
    if (part.timing_digest || !part.meters.empty()) return start_ns;
    std::optional<std::int64_t> first_ns;
    for (const StreamResult& stream : part.streams) {
        const bool began = stream.start_delay_ns > 0 || stream.last_due_ns > 0;
        if (began) first_ns = std::min(first_ns.value_or(INT64_MAX), stream.play_start_ns);
    }
    return start_ns - std::max<std::int64_t>(first_ns.value_or(0), 0);  // a document may have any times
}

}  // namespace

void onto_common_axis(RunResult& part) {
    const std::int64_t shift_ns = zero_ns(part);
    for (StreamResult& stream : part.streams) stream.play_start_ns += shift_ns;
    for (MissEvent& event : part.events) {
        event.from_ns += shift_ns;
        event.to_ns += shift_ns;
        event.evidence.from_ns += shift_ns;
    }
    for (TimelineEntry& entry : part.timeline) {
        if (is_preroll(entry) || entry.interval_ns <= 0) continue;
        entry.t_ns += shift_ns;
        entry.t_ns = interval_of(entry, entry.interval_ns) * entry.interval_ns;
    }
}

std::vector<TimelineEntry> merged_timeline(const std::vector<RunResult>& parts) {
    std::int64_t interval_ns = 1;
    std::int64_t end_ns = 0;
    TimelineEntry preroll;
    for (const RunResult& part : parts) {
        for (const TimelineEntry& entry : part.timeline) {
            if (is_preroll(entry)) {
                preroll += entry;
                preroll.t_ns = std::min(preroll.t_ns, entry.t_ns);
                continue;
            }
            interval_ns = std::max(interval_ns, entry.interval_ns);
            end_ns = std::max(end_ns, entry.t_ns);
        }
    }
    while (end_ns / interval_ns >= kIntervalsMax) interval_ns *= 2;
    std::vector<TimelineEntry> out;
    for (const RunResult& part : parts) {
        for (const TimelineEntry& entry : part.timeline) {
            if (is_preroll(entry)) continue;
            const auto interval = static_cast<std::size_t>(interval_of(entry, interval_ns));
            while (out.size() <= interval) {
                out.emplace_back();
                out.back().t_ns = static_cast<std::int64_t>(out.size() - 1) * interval_ns;
                out.back().interval_ns = interval_ns;
            }
            out[interval] += entry;
        }
    }
    preroll.interval_ns = -preroll.t_ns;
    if (preroll.t_ns < 0) out.insert(out.begin(), preroll);
    return out;
}

std::int64_t merged_wall_ns(const std::vector<RunResult>& parts) {
    std::int64_t first = INT64_MAX;
    std::int64_t last = INT64_MIN;
    std::int64_t metered_ns = 0;
    for (const RunResult& part : parts) {
        for (const MeterResult& meter : part.meters) metered_ns = std::max(metered_ns, meter.wall_ns);
        if (part.wall_ns <= 0 || part.streams.empty()) continue;
        const std::int64_t begin = begin_ns(part);
        first = std::min(first, begin);
        last = std::max(last, begin + part.wall_ns);
    }
    return last > first ? last - first : metered_ns;
}

double most_required(const std::vector<StreamResult>& streams) {
    std::vector<RateSpan> spans;
    spans.reserve(streams.size());
    for (const StreamResult& stream : streams) {
        if (stream.records) continue;
        // Streams that follow each other on two computers, whose clocks are not quite one, do not overlap: the
        // last frame is due a period before the end.
        spans.push_back({stream.play_start_ns,
                         stream.play_start_ns + std::max<std::int64_t>(stream.last_due_ns, 1),
                         stream.required_bytes_per_s});
    }
    return highest(rate_steps(spans));
}

}  // namespace streamsim::result
