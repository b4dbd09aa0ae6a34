#include "metrics/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/prng.h"

namespace streamsim::metrics {
namespace {

/// The value at rank ceil(permille * n / 1000) of sorted values.
std::int64_t exact(const std::vector<std::int64_t>& sorted, std::uint32_t permille) {
    const std::size_t rank = std::max<std::size_t>(1, (permille * sorted.size() + 999) / 1000);
    return sorted[rank - 1];
}

TEST(Histogram, NoPercentileIsWrongByMoreThanOne256thFrom1NsTo1H) {
    Prng prng(3);
    Histogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 200'000; ++i) {
        // Spread evenly over the powers of two up to an hour and ten minutes.
        const auto value = static_cast<std::int64_t>(prng.next() >> (22 + prng.below(42)));
        values.push_back(std::min<std::int64_t>(value, 3'600'000'000'000));
        histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (std::uint32_t permille = 0; permille <= 1000; ++permille) {
        const auto truth = static_cast<double>(exact(values, permille));
        ASSERT_LE(std::abs(static_cast<double>(histogram.at_permille(permille)) - truth), truth / 256)
            << permille;
    }
}

TEST(Histogram, EveryBucketAnswersWithinTheBound) {
    for (std::int64_t value = 1; value < Histogram::kMax; value += 1 + value / 700) {
        Histogram histogram;
        histogram.add(0);
        histogram.add(value);
        histogram.add(Histogram::kMax);
        ASSERT_LE(std::abs(static_cast<double>(histogram.at_permille(500) - value)),
                  static_cast<double>(value) / 256)
            << value;
        value += value / 3;
    }
}

TEST(Histogram, MergingIsTheSameAsHavingSeenEverything) {
    Prng prng(4);
    Histogram parts[3];
    Histogram whole;
    for (int i = 0; i < 30'000; ++i) {
        const auto value = static_cast<std::int64_t>(prng.below(1ull << (10 + prng.below(33))));
        parts[prng.below(3)].add(value);
        whole.add(value);
    }
    Histogram merged;
    for (const Histogram& part : parts) merged.merge(part);
    EXPECT_EQ(merged.count(), whole.count());
    EXPECT_EQ(merged.min(), whole.min());
    EXPECT_EQ(merged.max(), whole.max());
    for (std::uint64_t rank = 1; rank <= whole.count(); rank += 97)
        EXPECT_EQ(merged.at_rank(rank), whole.at_rank(rank));
}

/// Few values are kept in another place than many.
TEST(Histogram, AnswersTheSameBeforeAndAfterThereAreTooManyBuckets) {
    Histogram histogram, copy, sum;
    std::map<std::int64_t, std::uint64_t> expected;
    for (std::int64_t i = 0; i < 40; ++i) {
        const std::int64_t value = i * 37 % 23 * 11;  // below 256: exact; some of them twice
        const std::uint64_t times = i == 3 ? std::uint64_t{5} << 32 : static_cast<std::uint64_t>(i % 4 + 1);
        histogram.add(value, times);
        expected[value] += times;
        copy.catch_up(histogram);
        Histogram merged;
        merged.add(500);
        merged.merge(histogram);
        sum.merge(histogram);
        for (const Histogram* each : {&histogram, &copy}) {
            std::map<std::int64_t, std::uint64_t> found;
            each->each([&found](std::int64_t of, std::uint64_t count) { found[of] = count; });
            EXPECT_EQ(found, expected);
            std::uint64_t rank = 0;
            for (const auto& [of, count] : expected) {
                EXPECT_EQ(each->at_rank(rank + 1), of);
                EXPECT_EQ(each->at_rank(rank += count), of);
            }
            EXPECT_EQ(each->count(), rank);
            EXPECT_EQ(merged.count(), rank + 1);
        }
        EXPECT_EQ(merged.at_rank(merged.count()), 500);
    }
    EXPECT_EQ(sum.at_rank(sum.count() / 2), expected.begin()->first + 37 * 3 % 23 * 11);
}

TEST(Histogram, WhatIsTooLargeIsCountedAndTheMaximumStaysExact) {
    Histogram histogram;
    histogram.add(10);
    histogram.add(INT64_MAX);
    EXPECT_EQ(histogram.max(), INT64_MAX);
    EXPECT_EQ(histogram.count(), 2u);
    EXPECT_EQ(histogram.at_permille(500), 10);
}

TEST(Histogram, AnEmptyOneHasZeroes) {
    const Histogram histogram;
    EXPECT_EQ(histogram.at_permille(990), 0);
    EXPECT_EQ(histogram.max(), 0);
}

TEST(SignedHistogram, OrdersBothSidesOfZero) {
    SignedHistogram histogram;
    for (std::int64_t value = -500; value <= 499; ++value) histogram.add(value);
    EXPECT_EQ(histogram.min(), -500);
    EXPECT_EQ(histogram.max(), 499);
    EXPECT_EQ(histogram.at_permille(1), -500);
    EXPECT_EQ(histogram.at_permille(10), -491);
    EXPECT_EQ(histogram.at_permille(500), -1);
    EXPECT_EQ(histogram.at_permille(1000), 499);
    SignedHistogram late;
    late.add(-7);
    EXPECT_EQ(late.max(), -7);
    histogram.merge(late);
    EXPECT_EQ(histogram.count(), 1001u);
}

}  // namespace
}  // namespace streamsim::metrics
