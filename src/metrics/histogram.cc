#include "metrics/histogram.h"

#include <algorithm>
#include <bit>
#include <new>

#include "base/check.h"
#include "base/system/pages.h"
#include "base/wide.h"

namespace streamsim::metrics {
namespace {

constexpr int kSubBits = 7;  // 128 buckets a power of two
constexpr std::uint64_t kExact = std::uint64_t{2} << kSubBits;
constexpr std::size_t kOctaves = 42 - kSubBits;
constexpr std::size_t kBuckets = (kOctaves + 1) << kSubBits;
constexpr int kCountBits = 32;
constexpr std::size_t kBytes = kBuckets * sizeof(std::uint32_t);

std::uint32_t* zero_pages() {
    void* const pages = map_zero_pages(kBytes);
    if (pages == nullptr) throw std::bad_alloc();
    return static_cast<std::uint32_t*>(pages);
}

/// Each value below 256 has its own bucket; above, the leading eight bits select the bucket.
std::size_t bucket_of(std::int64_t any) {
    const auto value = static_cast<std::uint64_t>(std::min(any, Histogram::kMax));
    if (value < kExact) return value;
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kSubBits;
    return (static_cast<std::size_t>(shift) << kSubBits) + (value >> shift);
}

/// The middle of the bucket's values.
std::int64_t middle_of(std::size_t bucket) {
    if (bucket < kExact) return static_cast<std::int64_t>(bucket);
    const std::size_t shift = (bucket >> kSubBits) - 1;
    const std::uint64_t low = (bucket - (shift << kSubBits)) << shift;
    return static_cast<std::int64_t>(low + (std::uint64_t{1} << shift) / 2);
}

std::uint64_t rank_of(std::uint32_t permille, std::uint64_t count) {
    const Wide product = Wide{permille} * count;
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>((product + 999) / 1000));
}

}  // namespace

void Histogram::Free::operator()(std::uint32_t* counts) const {
    unmap_pages(counts, kBytes);
}

void Histogram::map() {
    counts_.reset(zero_pages());
    for (std::uint32_t i = 0; i < few_used_; ++i) counts_[few_[i].index] = few_[i].count;
}

void Histogram::add_to(std::size_t bucket, std::uint64_t times) {
    if (counts_ == nullptr) {
        const auto end = few_.begin() + few_used_;
        const auto at = std::lower_bound(few_.begin(), end, bucket, [](const Bucket& each, std::size_t value) {
            return each.index < value;
        });
        const bool found = at != end && at->index == bucket;
        if (times <= UINT32_MAX - (found ? at->count : 0) && (found || few_used_ < kFewMax)) {
            if (!found) {
                std::move_backward(at, end, end + 1);
                *at = {static_cast<std::uint32_t>(bucket), 0};
                ++few_used_;
            }
            at->count += static_cast<std::uint32_t>(times);
            return;
        }
        map();
    }
    const std::uint64_t sum = counts_[bucket] + times;
    counts_[bucket] = static_cast<std::uint32_t>(sum);
    if (sum >> kCountBits > 0) carries_[bucket] += sum >> kCountBits;
}

/// Calls see(bucket, count) for each bucket with values, ascending, until it returns false.
template <typename See>
void Histogram::each_bucket(See&& see) const {
    if (counts_ == nullptr) {
        for (std::uint32_t i = 0; i < few_used_; ++i) {
            if (!see(few_[i].index, few_[i].count)) return;
        }
        return;
    }
    const std::size_t last = bucket_of(max_);
    auto carry = carries_.begin();
    for (std::size_t i = bucket_of(min_); i <= last; ++i) {
        std::uint64_t count = counts_[i];
        if (carry != carries_.end() && carry->first == i) count += carry++->second << kCountBits;
        if (count > 0 && !see(i, count)) return;
    }
}

void Histogram::add(std::int64_t value, std::uint64_t times) {
    if (times == 0) return;
    value = std::max<std::int64_t>(value, 0);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    add_to(bucket_of(value), times);
    count_ += times;
}

void Histogram::merge(const Histogram& other) {
    other.each_bucket([this](std::size_t bucket, std::uint64_t times) {
        add_to(bucket, times);
        return true;
    });
    count_ += other.count_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
}

void Histogram::catch_up(const Histogram& other) {
    if (other.counts_ == nullptr) {
        few_ = other.few_;
        few_used_ = other.few_used_;
    } else {
        if (counts_ == nullptr) map();
        const std::size_t first = bucket_of(other.min_);
        std::copy(&other.counts_[first], &other.counts_[bucket_of(other.max_)] + 1, &counts_[first]);
        carries_ = other.carries_;
    }
    count_ = other.count_;
    min_ = other.min_;
    max_ = other.max_;
}

std::int64_t Histogram::at_permille(std::uint32_t permille) const {
    return count_ == 0 ? 0 : at_rank(rank_of(permille, count_));
}

std::int64_t Histogram::at_rank(std::uint64_t rank) const {
    STREAMSIM_CHECK(rank >= 1 && rank <= count_, "a rank is one of the counted values");
    if (rank == count_) return max_;
    std::uint64_t seen = 0;
    std::int64_t found = max_;
    each_bucket([&](std::size_t bucket, std::uint64_t times) {
        seen += times;
        if (seen < rank) return true;
        found = std::clamp(middle_of(bucket), min_, max_);
        return false;
    });
    return found;
}

void Histogram::each(const std::function<void(std::int64_t, std::uint64_t)>& see) const {
    each_bucket([&](std::size_t bucket, std::uint64_t times) {
        see(std::clamp(middle_of(bucket), min_, max_), times);
        return true;
    });
}

std::int64_t SignedHistogram::at_permille(std::uint32_t permille) const {
    if (count() == 0) return 0;
    const std::uint64_t rank = rank_of(permille, count());
    if (rank > negative_.count()) return positive_.at_rank(rank - negative_.count());
    return -negative_.at_rank(negative_.count() - rank + 1);
}

void SignedHistogram::each(const std::function<void(std::int64_t, std::uint64_t)>& see) const {
    negative_.each([&see](std::int64_t value, std::uint64_t times) { see(-value, times); });
    positive_.each(see);
}

}  // namespace streamsim::metrics
