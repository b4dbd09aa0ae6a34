// The statistics of one part: arrivals, busy time and queue, in all and by the second. Times are integers; the
// queue is integrated at each arrival and departure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "metrics/time_series.h"
#include "streamsim/part_stats.h"

namespace streamsim::sim {

class StationStats {
public:
    void arrive(Instant now) {
        integrate(now);
        ++arrivals_;
        longest_ = std::max(longest_, here());
    }
    /// One server is busy from `now` to `end` with so many bytes.
    void begin(Instant now, Instant end, std::uint64_t bytes) {
        Interval& at = series_.at({now.ns});
        ++at.requests;
        at.bytes += bytes;
        bytes_ += bytes;
        if (end.ns > series_.last_end().ns) return busy(now, end);
        at.busy_ns += (end - now).ns;
        busy_ns_ += (end - now).ns;
        last_ = std::max(last_, end);
    }
    /// One server is busy with a service that began before.
    void busy(Instant from, Instant to) {
        busy_ns_ += (to - from).ns;
        add(from, to, 1, &Interval::busy_ns);
        last_ = std::max(last_, to);
    }
    /// A job was served, or removed; it had come at `arrived`.
    void depart(Instant now, Instant arrived) {
        integrate(now);
        ++departures_;
        stay_ns_ += (now - arrived).ns;
    }

    std::uint64_t arrivals() const { return arrivals_; }
    std::uint64_t departures() const { return departures_; }
    std::uint64_t here() const { return arrivals_ - departures_; }
    std::uint64_t bytes() const { return bytes_; }
    std::int64_t busy_ns() const { return busy_ns_; }
    /// Integral of here() up to the last arrival or departure.
    std::int64_t queue_ns() const { return queue_ns_; }
    /// The sum of the times from arrival to departure of all departed jobs: the other side of Little's law.
    std::int64_t stay_ns() const { return stay_ns_; }
    std::uint64_t longest_queue() const { return longest_; }

    /// Fills the sums over [from, to): whole intervals, and a proportional share of those at the edges.
    void fill(PartStats& stats, Instant from, Instant to) const;

private:
    struct Interval {
        std::int64_t busy_ns = 0;
        std::int64_t queue_ns = 0;
        std::uint64_t bytes = 0;
        std::uint64_t requests = 0;

        void add(const Interval& other);
    };
    /// An interval has 32 bytes: a part takes 16 KiB at most, a run of thousands of parts some hundred
    /// megabytes.
    static constexpr std::size_t kIntervals = 512;

    void integrate(Instant now) {
        last_ = std::max(last_, now);
        const auto count = static_cast<std::int64_t>(here());
        if (count > 0 && now > changed_) {
            add(changed_, now, count, &Interval::queue_ns);
            queue_ns_ += count * (now - changed_).ns;
        }
        changed_ = now;
    }
    /// Adds `weight` for each ns. Most times lie within one interval.
    void add(Instant from, Instant to, std::int64_t weight, std::int64_t Interval::*field) {
        if (from >= to) return;
        Interval& into = series_.at({from.ns});
        if (to.ns > series_.last_end().ns) return spread(from, to, weight, field);
        into.*field += weight * (to - from).ns;
    }
    void spread(Instant from, Instant to, std::int64_t weight, std::int64_t Interval::*field);

    metrics::BoundedSeries<Interval> series_{kIntervals, seconds(1), false};
    Instant changed_;
    Instant last_;  // the end of all recorded times
    std::uint64_t arrivals_ = 0;
    std::uint64_t departures_ = 0;
    std::uint64_t longest_ = 0;
    std::uint64_t bytes_ = 0;
    std::int64_t busy_ns_ = 0;
    std::int64_t queue_ns_ = 0;
    std::int64_t stay_ns_ = 0;
};

}  // namespace streamsim::sim
