#include "report/facts/selection.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "judge/judge.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

/// The first `limit` of the indices 0 to `count` - 1, in ascending order of rank(index).
template <typename Rank>
std::vector<std::size_t> lowest(std::size_t count, std::size_t limit, Rank rank) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t kept = std::min(limit, count);
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(kept), {}, rank);
    order.resize(kept);
    return order;
}

}  // namespace

bool paced(const RunResult& result) {
    return std::ranges::any_of(result.streams, &StreamResult::paced);
}

bool records(const RunResult& result) {
    return std::ranges::any_of(result.streams, &StreamResult::records);
}

bool only_records(const RunResult& result) {
    return std::ranges::all_of(result.streams, &StreamResult::records) && !result.streams.empty();
}

bool several_seats(const RunResult& result) {
    return std::ranges::any_of(result.streams, [](const StreamResult& stream) { return stream.seat != 0; });
}

std::uint64_t streams_of(const SeatResult& seat, const RunResult& result) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(result.streams, [&seat](const StreamResult& stream) {
            return std::ranges::find(seat.seats, stream.seat) != seat.seats.end();
        }));
}

std::uint64_t missed(const FrameCounts& counts) {
    return judge::bad_frames(counts) - counts.stalls;
}

std::uint64_t missed_ever(const FrameCounts& counts) {
    return missed(counts) + counts.startup_drops;
}

bool has_misses(const FrameCounts& counts) {
    return judge::bad_frames(counts) > 0;
}

std::vector<StreamGroup> stream_groups(const RunResult& result) {
    std::vector<StreamGroup> out;
    for (const StreamResult& stream : result.streams) {
        auto found = std::ranges::find_if(out, [&stream](const StreamGroup& group) {
            return group.kind == kind_of(stream) && group.rate == stream.rate;
        });
        if (found == out.end()) found = out.insert(found, StreamGroup{kind_of(stream), stream.rate, {}});
        found->streams.push_back(&stream);
    }
    return out;
}

std::vector<std::size_t> worst_streams(const RunResult& result, std::size_t limit) {
    return lowest(result.streams.size(), limit, [&result](std::size_t index) {
        const StreamResult& stream = result.streams[index];
        return std::tuple(~judge::bad_frames(stream.counts),
                          stream.margin_ns ? stream.margin_ns->min : INT64_MAX, index);
    });
}

std::vector<std::size_t> shown_streams(const RunResult& result, std::size_t limit) {
    if (result.streams.size() > limit) return worst_streams(result, limit);
    return lowest(result.streams.size(), limit, [](std::size_t index) { return index; });
}

std::vector<std::size_t> fullest_parts(const RunResult& result, std::size_t limit) {
    return lowest(result.parts.size(), limit, [&result](std::size_t index) {
        const PartResult& part = result.parts[index];
        return std::tuple(-part.utilisation_missed.value_or(part.utilisation), -part.queue_mean, index);
    });
}

std::vector<TimelineEntry> coarser(const std::vector<TimelineEntry>& timeline, std::size_t limit) {
    const std::size_t step = (timeline.size() + limit - 1) / limit;
    std::vector<TimelineEntry> out;
    const auto join_last = [&out](const TimelineEntry& entry) {
        out.back().interval_ns += entry.interval_ns;
        out.back() += entry;
    };
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        if (i % step == 0) {
            out.push_back(timeline[i]);
        } else {
            join_last(timeline[i]);
        }
    }
    // A short rest at the end is no step of its own.
    if (out.size() > 1 && out.back().interval_ns < out[out.size() - 2].interval_ns) {
        const TimelineEntry rest = out.back();
        out.pop_back();
        join_last(rest);
    }
    return out;
}

std::vector<TimelineEntry> of_play(std::vector<TimelineEntry> timeline) {
    std::erase_if(timeline, [](const TimelineEntry& entry) { return entry.t_ns < 0; });
    return timeline;
}

double bytes_per_s(const TimelineEntry& entry) {
    if (entry.interval_ns <= 0) return 0;
    return static_cast<double>(entry.bytes) * 1e9 / static_cast<double>(entry.interval_ns);
}

std::uint64_t missed(const TimelineEntry& entry) {
    return entry.frames_dropped + entry.frames_late + entry.frames_failed;
}

}  // namespace streamsim::report
