#include "fit/slow_periods.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace streamsim::fit {
namespace {

using Series = std::vector<std::vector<double>>;

/// Rates of 100 with a little noise; `slow` of each 20 intervals, from the fifth on, have `level`.
std::vector<double> with_bursts(int slow, double level) {
    Prng prng(5);
    std::vector<double> rates;
    for (int i = 0; i < 200; ++i) {
        const bool on = i % 20 >= 5 && i % 20 < 5 + slow;
        rates.push_back((on ? level : 100) * (1 + 0.02 * prng.bell()));
    }
    return rates;
}

TEST(SlowPeriods, ASteadyRateHasNone) {
    EXPECT_FALSE(slow_periods(Series{with_bursts(0, 100)}, 0.2));
}

TEST(SlowPeriods, TellShareLengthAndGap) {
    const auto found = slow_periods(Series{with_bursts(4, 60)}, 0.2);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->share, 0.4, 0.02);
    EXPECT_EQ(found->periods, 10u);
    EXPECT_NEAR(found->mean_length_s, 0.8, 1e-9);
    EXPECT_NEAR(found->mean_gap_s, 3.2, 1e-9);
}

TEST(SlowPeriods, ASmallDifferenceIsNoOtherLoad) {
    EXPECT_FALSE(slow_periods(Series{with_bursts(4, 95)}, 0.2));
}

TEST(SlowPeriods, SingleSlowIntervalsAreNone) {
    EXPECT_FALSE(slow_periods(Series{with_bursts(1, 50)}, 0.2));
}

// A burst may be longer than a probe.
TEST(SlowPeriods, AProbeMayBeSlowFromItsBeginningToItsEnd) {
    std::vector<double> slowed = with_bursts(0, 100);
    for (double& rate : slowed) rate /= 2;
    const auto found = slow_periods(Series{with_bursts(0, 100), slowed, with_bursts(0, 100)}, 0.2);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->share, 0.5, 0.02);
    EXPECT_NEAR(found->mean_length_s, 40, 1e-9);
    EXPECT_NEAR(found->level, 100, 1);
}

TEST(SlowPeriods, TooFewIntervalsTellNothing) {
    EXPECT_FALSE(slow_periods(Series{{100, 100, 20, 20, 100}}, 0.2));
}

}  // namespace
}  // namespace streamsim::fit
