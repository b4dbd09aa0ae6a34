#include "fit/resample.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/prng.h"

namespace streamsim::fit {
namespace {

TEST(Resample, AConstantSeriesHasNoSpread) {
    const std::vector<double> same(60, 5);
    EXPECT_NEAR(*spread_of_mean(same, 10, 1), 0, 1e-6);
}

TEST(Resample, ATooShortSeriesTellsNothing) {
    const std::vector<double> few = {1, 9, 1};
    EXPECT_FALSE(spread_of_mean(few, 1, 1));
}

// The standard deviation of the mean of n independent values is s / sqrt(n).
TEST(Resample, IndependentValuesSpreadAsTheirMean) {
    Prng prng(7);
    std::vector<double> series;
    for (int i = 0; i < 400; ++i) series.push_back(100 + 10 * prng.bell());
    EXPECT_NEAR(*spread_of_mean(series, 1, 3), 0.1 / std::sqrt(400), 0.0015);
}

// Values that stay alike for ten intervals say a tenth as much: blocks see it, single values do not.
TEST(Resample, BlocksSeeThatNeighboursAreAlike) {
    Prng prng(11);
    std::vector<double> series;
    for (int i = 0; i < 60; ++i) {
        const double level = 100 + 10 * prng.bell();
        for (int k = 0; k < 10; ++k) series.push_back(level);
    }
    EXPECT_GT(*spread_of_mean(series, 10, 3), 2 * *spread_of_mean(series, 1, 3));
}

TEST(Quantile, LiesBetweenNeighboursInProportion) {
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0), 1);
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
}

}  // namespace
}  // namespace streamsim::fit
