// The causes of stalls, and of frames that play waited for.
#include <gmock/gmock.h>

#include "evidence_samples.h"
#include "judge/judge.h"

namespace streamsim::judge {
namespace {

using test::fail;
using test::good_run;
using test::kPeriodNs;
using test::stall;
using testing::HasSubstr;

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

TEST(StallOfTheStorage, IsNoWorkOfSmallReads) {
    Evidence evidence = good_run();
    test::drop(evidence, 12, &ReasonCounts::late);
    evidence.larger_reads = evidence.usual = ProbeResult{"", 2, 1 << 20, 8, 2e9};
    const auto cause = [&evidence](double as_played, bool stalls) {
        evidence.as_played = ProbeResult{"", 2, 4096, 8, as_played};
        evidence.delivery_gaps.clear();
        if (stalls) evidence.delivery_gaps.push_back({21 * kPeriodNs, 42 * kPeriodNs});
        return judge(evidence).causes.front().cause;
    };
    EXPECT_EQ(cause(900e6, true), Cause::storage_stall);
    EXPECT_EQ(cause(100e6, true), Cause::storage_stall);
    EXPECT_EQ(cause(900e6, false), Cause::slow_reads) << "they are enough";
    EXPECT_EQ(cause(100e6, false), Cause::too_small_reads);
    evidence.cpu_percent = 195;
    EXPECT_EQ(cause(100e6, false), Cause::too_small_reads) << "their work";
    EXPECT_EQ(cause(900e6, false), Cause::client_cpu);
    evidence.larger_reads.reset();
    evidence.cpu_percent = 12;
    EXPECT_EQ(cause(900e6, false), Cause::slow_reads) << "with too little in flight";
    EXPECT_EQ(cause(100e6, false), Cause::too_little_in_flight);
    EXPECT_EQ(cause(410e6, false), Cause::too_little_in_flight) << "measured a frame too high";
}

/// Three stalls of 67 ms, and one of this computer of a second.
TEST(StallTimes, AreThoseOfTheirCause) {
    Evidence evidence = good_run();
    stall(evidence, 3, DropReason::late);
    stall(evidence, 1, DropReason::client);
    MissedFrame& own = evidence.missed.back();
    own.slot = own.clip_frame = 700;
    own.due_ns = 700 * kPeriodNs;
    own.submitted_ns = 692 * kPeriodNs;
    own.delivered_ns = own.due_ns + test::kSecond;
    evidence.totals.stall_ns = 1'200 * test::kMs + 16;
    EXPECT_THAT(judge(evidence).verdict.reason, HasSubstr("play stalled 3 times for 200.0 ms in all"));
    evidence.modelled = true;
    own.reason = DropReason::error;
    EXPECT_THAT(judge(evidence).verdict.reason, HasSubstr("play stalled 3 times for 200.0 ms in all"));
}

}  // namespace
}  // namespace streamsim::judge
