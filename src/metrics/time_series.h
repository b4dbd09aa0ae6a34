// What happened in each second (or in each 2, 4, 8 ... seconds of a long run): a fixed number of intervals that
// double in length when the run outgrows them, so that nothing is allocated while playing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace streamsim {

class TimeSeries {
public:
    struct Interval {
        std::uint64_t bytes = 0;
        std::uint64_t frames_on_time = 0;
        std::uint64_t frames_dropped = 0;
        std::uint64_t frames_late = 0;
        std::uint64_t frames_failed = 0;
        std::int64_t service_ns_max = 0;
        std::uint64_t buffer_frames_min = UINT64_MAX;  // UINT64_MAX: no sample
    };

    /// `capacity` intervals of one second each, to begin with. REQUIRES: capacity >= 2.
    explicit TimeSeries(std::size_t capacity = 4096);

    /// The interval that holds `at`, counted from the series' zero; before zero means the first.
    Interval& at(Duration at);
    /// Adds another series with the same zero and capacity.
    void merge(const TimeSeries& other);

    Duration interval() const { return interval_; }
    /// From zero to the last interval that was touched.
    const std::vector<Interval>& intervals() const { return intervals_; }

private:
    void double_interval();

    std::size_t capacity_;
    Duration interval_ = seconds(1);
    std::vector<Interval> intervals_;
};

}  // namespace streamsim
