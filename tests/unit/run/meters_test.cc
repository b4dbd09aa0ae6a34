#include "run/plan/meters.h"

#include <gmock/gmock.h>

namespace streamsim::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<load::MeterPlan> plan_of(std::vector<WeightedSize> blocks) {
    std::vector<load::MeterPlan> plans(1);
    plans[0].spec.name = "m";
    plans[0].spec.direct = true;
    plans[0].spec.blocks = std::move(blocks);
    return plans;
}

TEST(FitToAlignment, LeavesOutRemaindersThatDirectIoCannotTake) {
    std::vector<load::MeterPlan> plans = plan_of({{4096, 1}, {1024, 0}, {512, 0}});
    EXPECT_THAT(fit_to_alignment(plans, 1024), ElementsAre(HasSubstr("remainders of transfers are left out")));
    EXPECT_TRUE(plans[0].spec.direct);
    EXPECT_EQ(plans[0].alignment, 1024U);
    EXPECT_EQ(plans[0].spec.blocks.size(), 2U);
}

TEST(FitToAlignment, KeepsAllBlocksOfAMeterThatCannotBeDirect) {
    std::vector<load::MeterPlan> plans = plan_of({{3000, 1}, {1000, 0}});
    EXPECT_THAT(fit_to_alignment(plans, 512), ElementsAre(HasSubstr("through the page cache")));
    EXPECT_FALSE(plans[0].spec.direct);
    EXPECT_EQ(plans[0].alignment, 1U);
    EXPECT_EQ(plans[0].spec.blocks.size(), 2U);
}

TEST(FitToAlignment, HasNothingToSayOfBlocksThatFit) {
    std::vector<load::MeterPlan> plans = plan_of({{4096, 1}, {512, 0}});
    EXPECT_THAT(fit_to_alignment(plans, 512), IsEmpty());
    EXPECT_TRUE(plans[0].spec.direct);
}

}  // namespace
}  // namespace streamsim::run
