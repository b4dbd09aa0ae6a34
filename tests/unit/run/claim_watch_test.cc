#include "run/playback/claim_watch.h"

#include <gtest/gtest.h>

namespace streamsim::run {
namespace {

constexpr Instant kOrigin{5'000'000'000};
constexpr double kPerDay = 2400;  // stands after 119 s without an event

Instant at(std::int64_t second) {
    return kOrigin + seconds(second);
}

ClaimWatch::News settled(std::int64_t second, bool ended = false) {
    return {.misses = {}, .settled = at(second), .last = at(second), .ended = ended};
}

TEST(ClaimWatch, WaitsForTheLoopThatHasSettledLeast) {
    ClaimWatch watch(kPerDay, 2);
    int decided = 0;
    watch.on_decided = [&decided] { ++decided; };
    watch.tell(0, kOrigin, settled(200));
    EXPECT_FALSE(watch.is_decided());
    watch.tell(1, kOrigin, settled(60));
    EXPECT_FALSE(watch.is_decided());
    watch.tell(1, kOrigin, settled(130));
    EXPECT_TRUE(watch.is_decided());
    EXPECT_EQ(decided, 1);
    watch.tell(0, kOrigin, settled(300));
    EXPECT_EQ(decided, 1) << "once";
}

TEST(ClaimWatch, TakesMissesOfAllLoopsByTheirTime) {
    ClaimWatch watch(kPerDay, 2);
    ClaimWatch::News early = settled(200);
    early.misses = {at(100)};
    watch.tell(0, kOrigin, early);
    ClaimWatch::News late = settled(130);
    late.misses = {at(100), at(20)};
    watch.tell(1, kOrigin, late);
    EXPECT_FALSE(watch.is_decided());
    EXPECT_EQ(watch.result().events, 2u) << "a stall that hits streams of both loops is one event";
}

TEST(ClaimWatch, DoesNotWaitForALoopThatHasEnded) {
    ClaimWatch watch(kPerDay, 2);
    watch.tell(0, kOrigin, settled(60, true));
    watch.tell(1, kOrigin, settled(100));
    EXPECT_FALSE(watch.is_decided());
    EXPECT_NEAR(watch.result().hours * 3600, 100, 1e-6);
    watch.tell(1, kOrigin, settled(110, true));
    EXPECT_FALSE(watch.is_decided()) << "after the end there is no more time";
    EXPECT_NEAR(watch.result().hours * 3600, 110, 1e-6);
}

}  // namespace
}  // namespace streamsim::run
