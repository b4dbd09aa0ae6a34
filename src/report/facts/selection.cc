#include "report/facts/selection.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace streamsim::report {
namespace {

/// The first `limit` of the indices 0 to `count` - 1, in ascending order of rank(index).
template <typename Rank>
std::vector<std::size_t> lowest(std::size_t count, std::size_t limit, Rank rank) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t kept = std::min(limit, count);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&rank](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    order.resize(kept);
    return order;
}

bool stream_records(const StreamResult& stream) {
    return stream.records;
}

}  // namespace

bool paced(const RunResult& result) {
    return std::any_of(result.streams.begin(), result.streams.end(),
                       [](const StreamResult& stream) { return stream.paced; });
}

bool records(const RunResult& result) {
    return std::any_of(result.streams.begin(), result.streams.end(), stream_records);
}

bool only_records(const RunResult& result) {
    return std::all_of(result.streams.begin(), result.streams.end(), stream_records) && !result.streams.empty();
}

bool several_seats(const RunResult& result) {
    return std::any_of(result.streams.begin(), result.streams.end(),
                       [](const StreamResult& stream) { return stream.seat != 0; });
}

std::uint64_t streams_of(const SeatResult& seat, const RunResult& result) {
    return static_cast<std::uint64_t>(
        std::count_if(result.streams.begin(), result.streams.end(), [&seat](const StreamResult& stream) {
            return std::find(seat.seats.begin(), seat.seats.end(), stream.seat) != seat.seats.end();
        }));
}

std::uint64_t missed(const FrameCounts& counts) {
    return counts.dropped + counts.late + counts.failed;
}

bool has_misses(const FrameCounts& counts) {
    return counts.dropped != counts.startup_drops || counts.late + counts.failed + counts.stalls > 0;
}

std::vector<std::size_t> worst_streams(const RunResult& result, std::size_t limit) {
    return lowest(result.streams.size(), limit, [&result](std::size_t index) {
        const StreamResult& stream = result.streams[index];
        return std::tuple(~(missed(stream.counts) + stream.counts.stalls),
                          stream.margin_ns ? stream.margin_ns->min : INT64_MAX, index);
    });
}

std::vector<std::size_t> shown_streams(const RunResult& result, std::size_t limit) {
    if (result.streams.size() > limit) return worst_streams(result, limit);
    return lowest(result.streams.size(), limit, [](std::size_t index) { return index; });
}

std::vector<std::size_t> earliest_drops(const RunResult& result, std::size_t limit) {
    return lowest(result.drops.size(), limit,
                  [&result](std::size_t index) { return std::pair(result.drops[index].due_ns, index); });
}

std::vector<std::size_t> fullest_parts(const RunResult& result, std::size_t limit) {
    return lowest(result.parts.size(), limit, [&result](std::size_t index) {
        const PartResult& part = result.parts[index];
        return std::tuple(-part.utilisation_missed.value_or(part.utilisation), -part.queue_mean, index);
    });
}

}  // namespace streamsim::report
