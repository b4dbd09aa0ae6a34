// The random draws, by counting. Chi-square tests state their sample and their critical value, which a right
// program exceeds with a chance of 1 in 1000; seeds are fixed, so that it is the same each time.
#include "load/draws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "unit/load/chi_square.h"

namespace streamsim::test {
namespace {

constexpr std::uint64_t kSample = 100'000;

TEST(WeightedDraw, FollowsTheWeightsAndNeverGivesWhatHasNone) {
    const std::vector<double> weights = {0, 70, 0, 25, 5, 0};
    const load::WeightedDraw draw(weights);
    Prng prng(3);
    std::vector<std::uint64_t> counts(weights.size());
    for (std::uint64_t i = 0; i < kSample; ++i) ++counts[draw.draw(prng)];
    EXPECT_EQ(counts[0] + counts[2] + counts[5], 0u);
    EXPECT_LT(chi_square(counts, weights), 13.82) << "2 degrees of freedom, p = 0.001";
}

TEST(BlockSizes, ALengthIsCutIntoBlocksAndTheLargestThatFit) {
    const load::BlockSizes sizes({{65'536, 1}, {4096, 1}, {1024, 0}, {2048, 0}});
    const auto cut = [&](std::uint64_t length, std::size_t block) {
        std::vector<std::uint64_t> pieces;
        while (length > 0) {
            pieces.push_back(sizes.piece(length, block));
            length -= pieces.back();
        }
        return pieces;
    };
    EXPECT_THAT(cut(65'536 * 2 + 4096 * 2 + 3072, 3),
                testing::ElementsAre(65'536, 65'536, 4096, 4096, 2048, 1024));
    EXPECT_THAT(cut(4096 * 3 + 500, 2), testing::ElementsAre(4096, 4096, 4096, 500)) << "none fits 500";
    EXPECT_EQ(sizes.fitting(70'000, 3), 3u);
    EXPECT_EQ(sizes.fitting(5000, 3), 2u) << "counts under 4096";
    EXPECT_EQ(sizes.fitting(100, 3), 0u);
}

MeterSpec reading() {
    MeterSpec spec;
    spec.weights[0] = 1;
    spec.blocks = {{4096, 1}, {65'536, 3}, {1024, 0}};
    spec.set.file_bytes = 1 << 24;
    return spec;
}

TEST(Draws, LengthsAreUniformInWholeSmallestBlocks) {
    MeterSpec spec = reading();
    spec.length_up_to = 20 * 1024 + 1023;
    const load::Draws draws(spec, 1);
    EXPECT_EQ(draws.longest(), 20u * 1024);
    Prng prng(5);
    std::vector<std::uint64_t> counts(20);
    for (std::uint64_t i = 0; i < kSample; ++i) {
        const std::uint64_t length = draws.shape(prng).length;
        ASSERT_EQ(length % 1024, 0u);
        ASSERT_GE(length, 1024u);
        ASSERT_LE(length, 20u * 1024);
        ++counts[length / 1024 - 1];
    }
    EXPECT_LT(chi_square(counts, std::vector<double>(20, 1)), 43.82) << "19 degrees of freedom, p = 0.001";
}

TEST(Draws, WeightedLengthsAreRoundedUpToTheAlignment) {
    MeterSpec spec = reading();
    spec.lengths = {{10'000, 1}, {4096, 3}};
    const load::Draws draws(spec, 512);
    Prng prng(5);
    std::map<std::uint64_t, std::uint64_t> counts;
    for (std::uint64_t i = 0; i < kSample; ++i) ++counts[draws.shape(prng).length];
    ASSERT_EQ(counts.size(), 2u);
    const std::vector<std::uint64_t> found = {counts[10'240], counts[4096]};
    EXPECT_LT(chi_square(found, {1, 3}), 10.83) << "1 degree of freedom, p = 0.001";
}

TEST(Draws, WithoutLengthsATransferIsOneBlock) {
    const load::Draws draws(reading(), 1);
    EXPECT_EQ(draws.longest(), 65'536u);
    Prng prng(8);
    std::vector<std::uint64_t> counts(2);
    for (std::uint64_t i = 0; i < kSample; ++i) {
        const load::TransferShape shape = draws.shape(prng);
        ASSERT_EQ(shape.length, draws.sizes().bytes(shape.block));
        ++counts.at(shape.length == 65'536 ? 1 : 0);
    }
    EXPECT_LT(chi_square(counts, {1, 3}), 10.83) << "1 degree of freedom, p = 0.001";
}

TEST(Permutation, EveryNumberComesOnce) {
    for (const std::uint64_t n : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 100u, 1023u, 1024u, 1025u, 65'537u}) {
        for (const std::uint64_t key : {0u, 1u, 77u}) {
            const load::Permutation order(n, key);
            std::vector<bool> seen(n);
            for (std::uint64_t i = 0; i < n; ++i) {
                const std::uint64_t at = order.at(i);
                ASSERT_LT(at, n);
                ASSERT_FALSE(seen[at]) << n << " twice " << at;
                seen[at] = true;
            }
        }
    }
    const load::Permutation large(1'000'000'000'000, 5);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 10'000; ++i) seen.insert(large.at(i));
    EXPECT_EQ(seen.size(), 10'000u);
    EXPECT_LT(*seen.rbegin(), 1'000'000'000'000u);
}

TEST(Permutation, TheOrderLooksLikeChance) {
    // The distribution of the first quarter of the indices over sixteen parts of 1000 numbers, for 64 keys.
    constexpr std::uint64_t kNumbers = 16'000;
    std::vector<std::uint64_t> counts(16);
    std::uint64_t rising = 0;
    for (std::uint64_t key = 0; key < 64; ++key) {
        const load::Permutation order(kNumbers, key);
        for (std::uint64_t i = 0; i < kNumbers / 4; ++i) {
            ++counts[order.at(i) / 1000];
            rising += std::uint64_t{order.at(i) < order.at(i + 1)};
        }
    }
    EXPECT_LT(chi_square(counts, std::vector<double>(16, 1)), 37.70) << "256,000; 15 degrees, p = 0.001";
    // Half of the steps rise; the count of n independent ones would deviate by sqrt(n) / 2 = 253.
    EXPECT_NEAR(static_cast<double>(rising), 128'000, 4 * 253);
}

TEST(Arrivals, ConstantOnesAreExact) {
    EXPECT_EQ(load::constant_time(0, 54).ns, 0);
    EXPECT_EQ(load::constant_time(54'000'000, 54), seconds(1'000'000));
    EXPECT_EQ(load::constant_time(1, 3).ns, 333'333'333);
    EXPECT_EQ(load::constant_time(3, 3), seconds(1));
}

TEST(Arrivals, TheNumberOfConstantOnesBeforeAnInstantIsExact) {
    EXPECT_EQ(load::constant_times_before(seconds(-1), 54), 0u);
    for (const double per_s : {3.0, 54.0, 999.9, 1e8}) {
        for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1'000'000'000}}) {
            for (std::uint64_t k = first; k < first + 1000; ++k) {
                const Duration at = load::constant_time(k, per_s);
                ASSERT_EQ(load::constant_times_before(at, per_s), k) << per_s;
                ASSERT_EQ(load::constant_times_before(at + nanoseconds(1), per_s), k + 1) << per_s;
            }
        }
    }
}

TEST(Arrivals, PoissonOnesHaveItsMeanAndItsVariance) {
    load::PoissonTimes times(11, 1000);
    Duration before;
    double sum = 0, squares = 0;
    std::vector<std::uint64_t> counts(10);  // of tenths of all distances, by the exponential's quantiles
    for (std::uint64_t i = 0; i < kSample; ++i) {
        const Duration at = times.next();
        const double distance = static_cast<double>((at - before).ns) / 1e6;  // mean 1
        before = at;
        sum += distance;
        squares += distance * distance;
        ++counts[std::min<std::size_t>(9, static_cast<std::size_t>((1 - std::exp(-distance)) * 10))];
    }
    const double mean = sum / kSample;
    EXPECT_NEAR(mean, 1, 4 / std::sqrt(double{kSample})) << "four standard errors";
    EXPECT_NEAR(squares / kSample - mean * mean, 1, 4 * std::sqrt(8.0 / kSample)) << "four standard errors";
    EXPECT_LT(chi_square(counts, std::vector<double>(10, 1)), 27.88) << "9 degrees of freedom, p = 0.001";
}

}  // namespace
}  // namespace streamsim::test
