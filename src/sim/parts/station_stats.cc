#include "sim/parts/station_stats.h"

#include <algorithm>

#include "base/wide.h"

namespace streamsim::sim {
namespace {

std::uint64_t share(std::uint64_t sum, std::int64_t part, std::int64_t whole) {
    if (part >= whole || whole <= 0) return sum;
    return static_cast<std::uint64_t>(Wide{sum} * static_cast<std::uint64_t>(part) /
                                      static_cast<std::uint64_t>(whole));
}

}  // namespace

void StationStats::Interval::add(const Interval& other) {
    busy_ns += other.busy_ns;
    queue_ns += other.queue_ns;
    bytes += other.bytes;
    requests += other.requests;
}

void StationStats::spread(Instant from, Instant to, std::int64_t weight, std::int64_t Interval::*field) {
    std::int64_t at = from.ns;
    while (at < to.ns) {
        Interval& into = series_.at({at});
        const std::int64_t end = std::min(to.ns, series_.last_end().ns);
        into.*field += weight * (end - at);
        at = end;
    }
}

void StationStats::fill(PartStats& stats, Instant from, Instant to) const {
    const std::int64_t interval_ns = series_.interval().ns;
    const std::int64_t first = from.ns / interval_ns;
    stats.longest_queue = longest_;
    stats.interval_ns = interval_ns;
    stats.first_interval_ns = first * interval_ns;
    const std::int64_t end = std::min(static_cast<std::int64_t>(series_.intervals().size()),
                                      (to.ns + interval_ns - 1) / interval_ns);
    for (std::int64_t i = first; i < end; ++i) {
        const Interval& each = series_.intervals()[static_cast<std::size_t>(i)];
        const std::int64_t begins = i * interval_ns;
        const std::int64_t ends = std::min(begins + interval_ns, std::max(last_.ns, begins + 1));
        const std::int64_t part = std::min(ends, to.ns) - std::max(begins, from.ns);
        const auto of = [&](auto sum) { return share(static_cast<std::uint64_t>(sum), part, ends - begins); };
        if (part <= 0) {
            stats.busy_per_s.push_back(0);
            continue;
        }
        stats.requests += of(each.requests);
        stats.bytes += of(each.bytes);
        stats.busy_ns += static_cast<std::int64_t>(of(each.busy_ns));
        stats.queue_ns += static_cast<std::int64_t>(of(each.queue_ns));
        stats.busy_per_s.push_back(each.busy_ns);
    }
    // Jobs that are still here since the last change.
    const std::int64_t waited = std::max<std::int64_t>(0, to.ns - std::max(changed_.ns, from.ns));
    stats.queue_ns += static_cast<std::int64_t>(here()) * waited;
}

}  // namespace streamsim::sim
