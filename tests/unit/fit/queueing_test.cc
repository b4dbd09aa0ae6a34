#include "fit/queueing.h"

#include <gtest/gtest.h>

namespace streamsim::fit {
namespace {

// Two stations of one second each: of n customers a station has n / 2, so that X(n) = n / (n + 1).
TEST(MeanValueAnalysis, TwoEqualStations) {
    const auto points = mean_value_analysis({{1, 1}, 0}, 4);
    ASSERT_EQ(points.size(), 4u);
    EXPECT_DOUBLE_EQ(points[0].throughput_per_s, 1.0 / 2);
    EXPECT_DOUBLE_EQ(points[1].throughput_per_s, 2.0 / 3);
    EXPECT_DOUBLE_EQ(points[2].throughput_per_s, 3.0 / 4);
    EXPECT_DOUBLE_EQ(points[3].throughput_per_s, 4.0 / 5);
    EXPECT_DOUBLE_EQ(points[3].response_s, 5);
}

TEST(MeanValueAnalysis, ADelayAloneIsNoLimit) {
    const auto points = mean_value_analysis({{}, 0.5}, 3);
    EXPECT_DOUBLE_EQ(points[2].throughput_per_s, 6);
    EXPECT_DOUBLE_EQ(points[2].response_s, 0.5);
}

TEST(Bottleneck, IsFoundFromThroughputs) {
    const auto truth = mean_value_analysis({{0.01}, 0.05}, 64);
    std::vector<LadderPoint> ladder;
    for (const std::size_t n : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
        ladder.push_back({n, truth[n - 1].throughput_per_s});
    const ClosedNetwork found = bottleneck_of(ladder);
    EXPECT_NEAR(found.demands_s.front(), 0.01, 0.0005);
    EXPECT_NEAR(found.delay_s, 0.05, 0.0025);
}

TEST(Bottleneck, OfOnePointIsItsResponse) {
    const LadderPoint one[] = {{1, 20}};
    const ClosedNetwork found = bottleneck_of(one);
    EXPECT_NEAR(found.demands_s.front() + found.delay_s, 0.05, 0.001);
}

}  // namespace
}  // namespace streamsim::fit
