#include "sim/parts/station_stats.h"

#include <algorithm>

#include "base/wide.h"

namespace streamsim::sim {
namespace {

/// An interval has 32 bytes: a part takes 16 KiB at most, a run of thousands of parts some hundred megabytes.
constexpr std::size_t kIntervals = 512;

std::uint64_t share(std::uint64_t sum, std::int64_t part, std::int64_t whole) {
    if (part >= whole || whole <= 0) return sum;
    return static_cast<std::uint64_t>(Wide{sum} * static_cast<std::uint64_t>(part) /
                                      static_cast<std::uint64_t>(whole));
}

}  // namespace

StationStats::Interval& StationStats::interval(std::int64_t ns) {
    auto at = static_cast<std::size_t>(ns / interval_ns_);
    if (at < intervals_.size()) return intervals_[at];
    while (at >= kIntervals) {
        double_intervals();
        at = static_cast<std::size_t>(ns / interval_ns_);
    }
    if (at >= intervals_.size()) intervals_.resize(at + 1);
    return intervals_[at];
}

void StationStats::double_intervals() {
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
        const Interval moved = intervals_[i];
        if (i % 2 == 0) intervals_[i / 2] = {};
        Interval& into = intervals_[i / 2];
        into.busy_ns += moved.busy_ns;
        into.queue_ns += moved.queue_ns;
        into.bytes += moved.bytes;
        into.requests += moved.requests;
    }
    intervals_.resize((intervals_.size() + 1) / 2);
    interval_ns_ *= 2;
}

void StationStats::spread(Instant from, Instant to, std::int64_t weight, std::int64_t Interval::*field) {
    std::int64_t at = from.ns;
    while (at < to.ns) {
        Interval& into = interval(at);  // may change interval_ns_
        const std::int64_t end = std::min(to.ns, (at / interval_ns_ + 1) * interval_ns_);
        into.*field += weight * (end - at);
        at = end;
    }
}

void StationStats::integrate(Instant now) {
    last_ = std::max(last_, now);
    const auto count = static_cast<std::int64_t>(here());
    if (count > 0 && now > changed_) {
        spread(changed_, now, count, &Interval::queue_ns);
        queue_ns_ += count * (now - changed_).ns;
    }
    changed_ = now;
}

void StationStats::arrive(Instant now) {
    integrate(now);
    ++arrivals_;
    longest_ = std::max(longest_, here());
}

void StationStats::begin(Instant now, Instant end, std::uint64_t bytes) {
    Interval& at = interval(now.ns);
    ++at.requests;
    at.bytes += bytes;
    bytes_ += bytes;
    busy(now, end);
}

void StationStats::busy(Instant from, Instant to) {
    busy_ns_ += (to - from).ns;
    spread(from, to, 1, &Interval::busy_ns);
    last_ = std::max(last_, to);
}

void StationStats::depart(Instant now, Instant arrived) {
    integrate(now);
    ++departures_;
    stay_ns_ += (now - arrived).ns;
}

void StationStats::fill(PartStats& stats, Instant from, Instant to) const {
    stats.longest_queue = longest_;
    stats.interval_ns = interval_ns_;
    const std::int64_t first = from.ns / interval_ns_;
    stats.first_interval_ns = first * interval_ns_;
    const std::int64_t end = std::min<std::int64_t>(static_cast<std::int64_t>(intervals_.size()),
                                                    (to.ns + interval_ns_ - 1) / interval_ns_);
    for (std::int64_t i = first; i < end; ++i) {
        const Interval& each = intervals_[static_cast<std::size_t>(i)];
        const std::int64_t begins = i * interval_ns_;
        const std::int64_t ends = std::min(begins + interval_ns_, std::max(last_.ns, begins + 1));
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
