#include "fit/uncertainty.h"

#include <gtest/gtest.h>

#include <cmath>

namespace streamsim::fit {
namespace {

// The mean of four observations of 2 %.
TEST(Uncertainty, OfOneParameterIsThatOfAMean) {
    const auto found = uncertainty_of({{1}, {1}, {1}, {1}}, {0.02, 0.02, 0.02, 0.02});
    EXPECT_NEAR(found.deviations[0], 0.01, 1e-6);
    EXPECT_DOUBLE_EQ(found.correlation[0][0], 1);
}

// y1 = a, y2 = a + b: the error of b has that of a with the other sign.
TEST(Uncertainty, ParametersThatShareAnObservationAreCorrelated) {
    const auto found = uncertainty_of({{1, 0}, {1, 1}}, {0.03, 0.04});
    EXPECT_NEAR(found.deviations[0], 0.03, 1e-4);
    EXPECT_NEAR(found.deviations[1], 0.05, 1e-4);
    EXPECT_NEAR(found.correlation[0][1], -0.6, 1e-3);
    EXPECT_DOUBLE_EQ(found.correlation[0][1], found.correlation[1][0]);
}

TEST(Uncertainty, AParameterThatChangesNothingIsNotKnown) {
    const auto found = uncertainty_of({{1, 0}, {1, 0}}, {0.01, 0.01});
    EXPECT_NEAR(found.deviations[0], 0.01 / std::sqrt(2), 1e-4);
    EXPECT_DOUBLE_EQ(found.deviations[1], 1);
    EXPECT_DOUBLE_EQ(found.correlation[0][1], 0);
}

}  // namespace
}  // namespace streamsim::fit
