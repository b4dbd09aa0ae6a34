// The causes of stalls, and of frames that play waited for.
#include <gtest/gtest.h>

#include "evidence_samples.h"
#include "judge/judge.h"

namespace streamsim::judge {
namespace {

using test::fail;
using test::good_run;
using test::stall;

/// The same slots, from slot 30 on, stall play and fail then.
void stall_and_fail(Evidence& evidence, std::uint64_t count) {
    fail(evidence, count, &ReasonCounts::error);
    stall(evidence, count, DropReason::late);
    for (std::uint64_t i = 0; i < count; ++i) {
        MissedFrame& stalled = evidence.missed[evidence.missed.size() - count + i];
        stalled.slot = stalled.clip_frame = 30 + i;
    }
}

TEST(StallAndFailure, OfOneSlotAreNoDamageThatEachPassFinds) {
    Evidence evidence = good_run();
    stall_and_fail(evidence, 1);
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::storage_error) << "one pass";
    evidence.streams.front().pass_slots = 500;
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::storage_error) << "one of two passes";
    fail(evidence, 1, &ReasonCounts::error);
    evidence.missed.back().slot = 530;
    evidence.missed.back().clip_frame = 30;
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::damaged_file) << "both passes";
}

TEST(StallAndFailure, OfAFifthOfTheSlotsAreNotEverywhere) {
    Evidence evidence = good_run();
    evidence.streams.front().pass_slots = 250;
    stall_and_fail(evidence, 200);
    EXPECT_EQ(judge(evidence).places.answer, PlaceTest::Answer::random);
    EXPECT_EQ(judge(evidence).places.places, 200u);
}

/// Ten stalls of 67 ms are longer than the scheduling stalls of the player's loop, or not.
TEST(StallOfTheClient, IsDecodingsWhereTheLoopRan) {
    Evidence evidence = good_run();
    stall(evidence, 10, DropReason::client);
    evidence.decode_cpu_ns = 60 * test::kMs;
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::client_cpu);
    EXPECT_EQ(judge(evidence).verdict.limit, Limit::client_cpu);
    evidence.loop_stalled_ns = 600 * test::kMs;
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::client_cpu);
    evidence.loop_stalled_ns = 700 * test::kMs;
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::client_scheduling);
}

}  // namespace
}  // namespace streamsim::judge
