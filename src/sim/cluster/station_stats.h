// The books of one part: what came, how long it was busy and how many were waiting, in all and by the second.
// Times are integers; the queue is integrated at each arrival and departure. A run that outgrows the seconds it
// has room for has intervals of 2, 4, 8 ... seconds.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "streamsim/part_stats.h"

namespace streamsim::sim {

class StationStats {
public:
    void arrive(Instant now);
    /// One server is busy from `now` to `end` with so many bytes.
    void begin(Instant now, Instant end, std::uint64_t bytes);
    /// One server is busy with what began before.
    void busy(Instant from, Instant to);
    /// Served, or taken away. `arrived` is when it came.
    void depart(Instant now, Instant arrived);

    std::uint64_t arrivals() const { return arrivals_; }
    std::uint64_t departures() const { return departures_; }
    std::uint64_t here() const { return arrivals_ - departures_; }
    std::uint64_t bytes() const { return bytes_; }
    std::int64_t busy_ns() const { return busy_ns_; }
    /// Integral of here() up to the last arrival or departure.
    std::int64_t queue_ns() const { return queue_ns_; }
    /// The times between arrival and departure of all that departed: the other side of Little's law.
    std::int64_t stay_ns() const { return stay_ns_; }
    std::uint64_t longest_queue() const { return longest_; }

    /// The sums of [from, to): whole intervals, and of those at the edges their share of what was recorded.
    void fill(PartStats& stats, Instant from, Instant to) const;

private:
    struct Interval {
        std::int64_t busy_ns = 0;
        std::int64_t queue_ns = 0;
        std::uint64_t bytes = 0;
        std::uint64_t requests = 0;
    };

    Interval& interval(std::int64_t ns);
    void integrate(Instant now);
    void spread(Instant from, Instant to, std::int64_t weight, std::int64_t Interval::*field);
    void double_intervals();

    std::int64_t interval_ns_ = 1'000'000'000;
    std::vector<Interval> intervals_;
    Instant changed_;
    Instant last_;  // that anything is known of
    std::uint64_t arrivals_ = 0;
    std::uint64_t departures_ = 0;
    std::uint64_t longest_ = 0;
    std::uint64_t bytes_ = 0;
    std::int64_t busy_ns_ = 0;
    std::int64_t queue_ns_ = 0;
    std::int64_t stay_ns_ = 0;
};

}  // namespace streamsim::sim
