#include "metrics/time_series.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim {
namespace {

void add(TimeSeries::Interval& to, const TimeSeries::Interval& from) {
    to.bytes += from.bytes;
    to.frames_on_time += from.frames_on_time;
    to.frames_dropped += from.frames_dropped;
    to.frames_late += from.frames_late;
    to.frames_failed += from.frames_failed;
    to.service_ns_max = std::max(to.service_ns_max, from.service_ns_max);
    to.buffer_frames_min = std::min(to.buffer_frames_min, from.buffer_frames_min);
}

}  // namespace

TimeSeries::TimeSeries(std::size_t capacity) : capacity_(capacity) {
    STREAMSIM_CHECK(capacity >= 2, "two intervals can be made one");
    intervals_.reserve(capacity);
}

TimeSeries::Interval& TimeSeries::at(Duration at) {
    const std::int64_t ns = std::max<std::int64_t>(at.ns, 0);
    while (static_cast<std::uint64_t>(ns / interval_.ns) >= capacity_) double_interval();
    const auto index = static_cast<std::size_t>(ns / interval_.ns);
    if (index >= intervals_.size()) intervals_.resize(index + 1);
    return intervals_[index];
}

void TimeSeries::double_interval() {
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
        if (i % 2 == 0) {
            intervals_[i / 2] = intervals_[i];
        } else {
            add(intervals_[i / 2], intervals_[i]);
        }
    }
    intervals_.resize((intervals_.size() + 1) / 2);
    interval_.ns *= 2;
}

void TimeSeries::merge(const TimeSeries& other) {
    STREAMSIM_CHECK(capacity_ == other.capacity_, "series of one run have one capacity");
    while (interval_ < other.interval_) double_interval();
    for (std::size_t i = 0; i < other.intervals_.size(); ++i) {
        add(at(Duration{static_cast<std::int64_t>(i) * other.interval_.ns}), other.intervals_[i]);
    }
}

}  // namespace streamsim
