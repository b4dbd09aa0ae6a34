#include "fit/minimise.h"

#include <gtest/gtest.h>

#include <cmath>

namespace streamsim::fit {
namespace {

TEST(Minimise, FindsTheBottomOfACurvedValley) {
    const auto rosenbrock = [](const std::vector<double>& at) {
        return std::pow(1 - at[0], 2) + 100 * std::pow(at[1] - at[0] * at[0], 2);
    };
    const Minimum found = minimise({{-1, -2, 2}, {1, -2, 2}}, rosenbrock, 5000, 1e-6);
    EXPECT_NEAR(found.at[0], 1, 1e-2);
    EXPECT_NEAR(found.at[1], 1, 1e-2);
}

TEST(Minimise, StaysWithinTheBounds) {
    const Minimum found = minimise(
        {{2, 1, 3}}, [](const std::vector<double>& at) { return at[0]; }, 200);
    EXPECT_NEAR(found.at[0], 1, 1e-2);
}

TEST(Minimise, EndsAfterTheEvaluationsThatItMayUse) {
    int calls = 0;
    const Minimum found = minimise(
        {{0, -1, 1}, {0, -1, 1}},
        [&calls](const std::vector<double>& at) {
            ++calls;
            return at[0] * at[1];
        },
        17);
    EXPECT_LE(calls, 17);
    EXPECT_EQ(found.evaluations, calls);
}

// A simulation has steps: a function that is flat around its start still ends at a smaller value.
TEST(Minimise, GoesOverSmallSteps) {
    const auto steps = [](const std::vector<double>& at) { return std::floor(std::abs(at[0] - 0.7) * 50); };
    const Minimum found = minimise({{0, -2, 2, 0.2}}, steps, 300, 1e-4);
    EXPECT_NEAR(found.at[0], 0.7, 0.03);
}

}  // namespace
}  // namespace streamsim::fit
