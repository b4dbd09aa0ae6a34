// Counters over time: a fixed number of intervals, short at first, that double in length when the run outgrows
// them, so that playing allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace streamsim::metrics {

/// `Entry` has the counters of one interval; entry.add(later) joins two consecutive ones.
template <typename Entry>
class BoundedSeries {
public:
    using Interval = Entry;

    /// Begins with `capacity` intervals of this length. Without `reserved` memory, at() may allocate.
    /// REQUIRES: capacity >= 2, interval > 0.
    explicit BoundedSeries(std::size_t capacity, Duration interval = seconds(1), bool reserved = true)
        : capacity_(capacity), interval_(interval) {
        STREAMSIM_CHECK(capacity >= 2, "a series has two intervals to join");
        if (reserved) intervals_.reserve(capacity);
    }

    /// The interval that holds `at`, counted from the series' zero; before zero means the first.
    Entry& at(Duration at) {
        const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(at.ns, 0));
        // Most times lie in the interval of the one before: that saves the division.
        if (ns - last_begin_ns_ >= static_cast<std::uint64_t>(interval_.ns)) find(ns);
        return intervals_[last_];
    }
    /// The end of the interval that at() has returned last.
    Duration last_end() const { return Duration{static_cast<std::int64_t>(last_begin_ns_)} + interval_; }

    /// Adds another series with the same zero and capacity.
    void merge(const BoundedSeries& other) {
        STREAMSIM_CHECK(capacity_ == other.capacity_, "series of one run have one capacity");
        while (interval_ < other.interval_) double_interval();
        for (std::size_t i = 0; i < other.intervals_.size(); ++i) {
            at(Duration{static_cast<std::int64_t>(i) * other.interval_.ns}).add(other.intervals_[i]);
        }
    }

    Duration interval() const { return interval_; }
    /// From zero to the last interval that was touched.
    const std::vector<Entry>& intervals() const { return intervals_; }

private:
    static constexpr std::uint64_t kNone = std::uint64_t{1} << 63;  // further from any time than an interval

    [[gnu::noinline]] void find(std::uint64_t ns) {
        std::uint64_t index = ns / static_cast<std::uint64_t>(interval_.ns);
        for (; index >= capacity_; index /= 2) double_interval();
        if (index >= intervals_.size()) intervals_.resize(index + 1);
        last_ = index;
        last_begin_ns_ = index * static_cast<std::uint64_t>(interval_.ns);
    }
    void double_interval() {
        last_begin_ns_ = kNone;
        for (std::size_t i = 0; i < intervals_.size(); ++i) {
            if (i % 2 == 0) {
                intervals_[i / 2] = intervals_[i];
            } else {
                intervals_[i / 2].add(intervals_[i]);
            }
        }
        intervals_.resize((intervals_.size() + 1) / 2);
        interval_.ns *= 2;
    }

    std::size_t capacity_;
    Duration interval_;
    std::vector<Entry> intervals_;
    std::size_t last_ = 0;  // the interval that at() has returned last
    std::uint64_t last_begin_ns_ = kNone;
};

/// Latencies of one interval, in eight buckets for each power of two from 8 us to 8 s: a percentile is wrong by
/// 1/16 of its value at most, beyond these bounds by more.
class LatencyCounts {
public:
    void add(std::int64_t ns) { ++counts_[bucket_of(ns)]; }
    void add(const LatencyCounts& other) {
        for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    }
    /// The middle of the bucket at rank ceil(permille * count / 1000); 0: nothing was added.
    std::int64_t at_permille(std::uint64_t permille) const {
        std::uint64_t count = 0;
        for (const std::uint32_t each : counts_) count += each;
        const std::uint64_t rank = (count * permille + 999) / 1000;
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size() && count > 0; ++i) {
            seen += counts_[i];
            if (seen >= rank && seen > 0) return middle_of(i);
        }
        return 0;
    }

private:
    static constexpr unsigned kFirstPower = 13;  // 8,192 ns
    static constexpr std::size_t kPowers = 20;

    static std::size_t bucket_of(std::int64_t ns) {
        const auto value = std::max<std::uint64_t>(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)),
                                                   std::uint64_t{1} << kFirstPower);
        const auto power = static_cast<unsigned>(std::bit_width(value)) - 1;
        const std::size_t bucket = (power - kFirstPower) * 8 + ((value >> (power - 3)) & 7);
        return std::min(bucket, kPowers * 8 - 1);
    }
    static std::int64_t middle_of(std::size_t bucket) {
        const std::size_t power = kFirstPower + bucket / 8;
        return static_cast<std::int64_t>((2 * (8 + bucket % 8) + 1) << (power - 4));
    }

    std::array<std::uint32_t, kPowers * 8> counts_{};
};

/// All streams of a loop.
struct LoopInterval {
    std::uint64_t bytes = 0;
    std::uint64_t frames_on_time = 0;
    std::uint64_t frames_dropped = 0;
    std::uint64_t frames_late = 0;
    std::uint64_t frames_failed = 0;
    std::int64_t service_ns_max = 0;
    std::uint64_t buffer_frames_min = UINT64_MAX;  // UINT64_MAX: no sample
    std::int64_t margin_ns_min = INT64_MAX;        // INT64_MAX: no sample
    LatencyCounts service;

    void add(const LoopInterval& other) {
        bytes += other.bytes;
        frames_on_time += other.frames_on_time;
        frames_dropped += other.frames_dropped;
        frames_late += other.frames_late;
        frames_failed += other.frames_failed;
        service_ns_max = std::max(service_ns_max, other.service_ns_max);
        buffer_frames_min = std::min(buffer_frames_min, other.buffer_frames_min);
        margin_ns_min = std::min(margin_ns_min, other.margin_ns_min);
        service.add(other.service);
    }
};

/// Frames that the storage delivered.
struct DeliveryInterval {
    std::uint32_t frames = 0;

    void add(const DeliveryInterval& other) { frames += other.frames; }
};

/// Fine enough to show a tenth of a second without data, for some minutes.
class DeliverySeries : public BoundedSeries<DeliveryInterval> {
public:
    DeliverySeries() : BoundedSeries(65'536, milliseconds(10)) {}
};

/// A run of more than five seconds has 512 to 1024 intervals.
class TimeSeries : public BoundedSeries<LoopInterval> {
public:
    explicit TimeSeries(std::size_t capacity = 1024) : BoundedSeries(capacity, milliseconds(10)) {}

    void merge(const TimeSeries& other) {
        BoundedSeries::merge(other);
        deliveries.merge(other.deliveries);
    }

    DeliverySeries deliveries;
};

/// One stream.
struct StreamInterval {
    std::int64_t margin_ns_min = INT64_MAX;        // INT64_MAX: no sample
    std::uint32_t buffer_frames_min = UINT32_MAX;  // UINT32_MAX: no sample
    std::uint32_t frames_missed = 0;

    void add(const StreamInterval& other) {
        margin_ns_min = std::min(margin_ns_min, other.margin_ns_min);
        buffer_frames_min = std::min(buffer_frames_min, other.buffer_frames_min);
        frames_missed += other.frames_missed;
    }
};

/// Short: a run may have thousands of streams.
class StreamTimeSeries : public BoundedSeries<StreamInterval> {
public:
    StreamTimeSeries() : BoundedSeries(240, milliseconds(100)) {}
};

}  // namespace streamsim::metrics
