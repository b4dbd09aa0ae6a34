// A histogram of nanoseconds (or of any positive count) with a bound on its error. Values below 256 are kept
// exactly; above, each power of two is cut into 128 buckets and a bucket answers with its middle, so that a
// percentile is wrong by at most 1/256 of its value (0.4 %). Counts are exact, and so are minimum and
// maximum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>

namespace streamsim::metrics {

/// Values from 0 to kMax (an hour and more). Not thread-safe; merge() brings threads' histograms together.
/// As long as few buckets have values they are kept in the histogram itself; later they are in mapped zero
/// pages, which take 4 KiB for each eight powers of two with values in them.
class Histogram {
public:
    /// 2^42 - 1 ns, 73 minutes. Larger values are counted at kMax; max() stays exact.
    static constexpr std::int64_t kMax = (std::int64_t{1} << 42) - 1;

    /// Negative values are counted as 0.
    void add(std::int64_t value, std::uint64_t times = 1);
    /// Adds the values of the other; exact.
    void merge(const Histogram& other);
    /// Becomes a copy of `other`, which has all values of this one, and more.
    void catch_up(const Histogram& other);

    std::uint64_t count() const { return count_; }
    /// Exact; 0 when empty.
    std::int64_t min() const { return count_ == 0 ? 0 : min_; }
    std::int64_t max() const { return count_ == 0 ? 0 : max_; }

    /// The value at rank ceil(permille * count / 1000), at least the first: `at_permille(999)` is p99.9. 0 when
    /// empty; always within [min(), max()].
    std::int64_t at_permille(std::uint32_t permille) const;
    /// The value of the given rank, 1 being the smallest. REQUIRES: 1 <= rank <= count().
    std::int64_t at_rank(std::uint64_t rank) const;
    /// Calls see(value, times) for each bucket that is not empty, ascending.
    void each(const std::function<void(std::int64_t, std::uint64_t)>& see) const;

private:
    struct Free {
        void operator()(std::uint32_t* counts) const;
    };
    struct Bucket {
        std::uint32_t index = 0;
        std::uint32_t count = 0;
    };
    static constexpr std::size_t kFewMax = 12;

    void add_to(std::size_t bucket, std::uint64_t times);
    void map();
    template <typename See>
    void each_bucket(See&& see) const;

    std::unique_ptr<std::uint32_t[], Free> counts_;  // by bucket, modulo 2^32; null: few_ has all
    std::map<std::size_t, std::uint64_t> carries_;   // what is left of a bucket's count, divided by 2^32
    std::array<Bucket, kFewMax> few_{};              // ascending
    std::uint32_t few_used_ = 0;
    std::uint64_t count_ = 0;
    std::int64_t min_ = INT64_MAX;
    std::int64_t max_ = 0;
};

/// The same for values on both sides of zero, such as margins.
class SignedHistogram {
public:
    void add(std::int64_t value, std::uint64_t times = 1) {
        (value < 0 ? negative_ : positive_).add(std::abs(value), times);
    }
    void merge(const SignedHistogram& other) {
        negative_.merge(other.negative_);
        positive_.merge(other.positive_);
    }
    /// As Histogram::catch_up.
    void catch_up(const SignedHistogram& other) {
        negative_.catch_up(other.negative_);
        positive_.catch_up(other.positive_);
    }
    std::uint64_t count() const { return negative_.count() + positive_.count(); }
    std::int64_t min() const { return negative_.count() > 0 ? -negative_.max() : positive_.min(); }
    std::int64_t max() const { return positive_.count() > 0 ? positive_.max() : -negative_.min(); }
    /// As Histogram::at_permille.
    std::int64_t at_permille(std::uint32_t permille) const;
    /// As Histogram::each, in no order.
    void each(const std::function<void(std::int64_t, std::uint64_t)>& see) const;

private:
    Histogram negative_;  // of -value
    Histogram positive_;
};

}  // namespace streamsim::metrics
