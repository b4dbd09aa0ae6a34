// The predictor against cases worked out by hand. 25 fps unless said otherwise: a period is 40 ms, slot i is
// due at 40 * i ms after play_start, and with reads of no length play_start is 0.
#include "sim/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace predictor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;

// A plan at 25 fps in which every read takes `service_ns`, but for the slots in `slow`.
Plan plan_of(Policy policy,
             std::uint64_t readahead,
             std::uint64_t inflight,
             std::int64_t service_ns,
             std::map<std::uint64_t, std::int64_t> slow) {
    Plan plan;
    plan.rate_num = 25;
    plan.slots = 40;
    plan.readahead = readahead;
    plan.inflight = inflight;
    plan.policy = policy;
    plan.read = [service_ns, slow = std::move(slow)](std::uint64_t slot, std::int64_t) {
        const auto found = slow.find(slot);
        return ReadFate{found == slow.end() ? service_ns : found->second, false};
    };
    return plan;
}

std::vector<std::uint64_t> never_read(const Prediction& prediction) {
    std::vector<std::uint64_t> result;
    for (std::uint64_t i = 0; i < prediction.slots.size(); i++) {
        if (!prediction.slots[i].submitted_ns) result.push_back(i);
    }
    return result;
}

TEST(Predictor, DeadlinesAreRoundedDownFromOneOrigin) {
    EXPECT_EQ(due_ns(1, 24, 1), 41'666'666);
    EXPECT_EQ(due_ns(2, 24, 1), 83'333'333);
    EXPECT_EQ(due_ns(3, 24, 1), 125'000'000);
    EXPECT_EQ(due_ns(24'000, 24'000, 1'001), 1'001'000'000'000);
    EXPECT_EQ(due_ns(2'071'528, 24'000, 1'001), 86'399'980'333'333);
}

TEST(Predictor, FramesEnterTheWindowAReadAheadBeforeTheyAreDue) {
    const Prediction p = predict(plan_of(Policy::drop, 4, 2, 0, {}));
    EXPECT_EQ(p.play_start_ns, 0);
    EXPECT_EQ(p.count(Kind::on_time), 40U);
    EXPECT_EQ(p.slots[3].scheduled_ns, 0);
    EXPECT_EQ(p.slots[4].scheduled_ns, 0);
    EXPECT_EQ(p.slots[5].scheduled_ns, 40 * kMs);
    EXPECT_EQ(p.slots[30].submitted_ns, 26 * 40 * kMs);
    EXPECT_EQ(p.slots[30].edge_ns, 160 * kMs);
}

TEST(Predictor, PrerollFillsTheWindowThroughTheInFlightSlots) {
    // Two in-flight slots: frame 0 from 0 to 10 ms, frame 1 from 0 to 20, frame 2 from 10 to 40, frame 3 from
    // 20 to 60.
    Plan plan =
        plan_of(Policy::drop, 4, 2, 1 * kMs, {{0, 10 * kMs}, {1, 20 * kMs}, {2, 30 * kMs}, {3, 40 * kMs}});
    plan.begin_ns = 5 * kMs;
    EXPECT_EQ(predict(plan).play_start_ns, 65 * kMs);
    plan.start_not_before_ns = 100 * kMs;
    const Prediction p = predict(plan);
    EXPECT_EQ(p.play_start_ns, 100 * kMs);
    EXPECT_EQ(p.slots[0].deadline_ns, 100 * kMs);
    EXPECT_EQ(p.slots[4].scheduled_ns, 100 * kMs);
    EXPECT_EQ(p.count(Kind::on_time), 40U);
}

TEST(Predictor, FewerSlotsThanReadAhead) {
    Plan plan = plan_of(Policy::drop, 8, 8, 3 * kMs, {});
    plan.slots = 3;
    const Prediction p = predict(plan);
    EXPECT_EQ(p.play_start_ns, 3 * kMs);
    EXPECT_EQ(p.count(Kind::on_time), 3U);
}

TEST(Predictor, OneReadAheadHasOneInFlightSlotWhateverInflightSays) {
    const Prediction p = predict(plan_of(Policy::drop, 1, 8, 1 * kMs, {{10, 100 * kMs}}));
    // Frame 10 is read from D(9) = 360 to 460 ms; 11 (440) is passed over, 12 (480) read at 460.
    EXPECT_THAT(p.missed(), ElementsAre(10, 11));
    EXPECT_THAT(never_read(p), ElementsAre(11));
}

TEST(Predictor, HalfASecondAt24CostsTwelveSlotsOrElevenWhenReadsTakeNoTime) {
    for (const auto& [service_ns, expected] :
         std::map<std::int64_t, std::uint64_t>{{0, 11}, {1, 12}, {1 * kMs, 12}}) {
        Plan plan = plan_of(Policy::drop, 1, 1, service_ns, {{10, 500 * kMs + service_ns}});
        plan.rate_num = 24;
        const Prediction p = predict(plan);
        EXPECT_EQ(p.count(Kind::dropped), expected) << service_ns;
        EXPECT_EQ(p.missed().front(), 10U);
        EXPECT_EQ(p.missed().back(), 10 + expected - 1);
        EXPECT_EQ(p.slots[10 + expected].kind, Kind::on_time);
    }
}

TEST(Predictor, ALateReadKeepsItsInFlightSlotAndTheOtherPlaysOn) {
    // Frame 10 enters at D(6) = 240 and takes 500 ms: there at 740, due at 400.
    const Prediction p = predict(plan_of(Policy::drop, 4, 2, 1 * kMs, {{10, 500 * kMs}}));
    EXPECT_THAT(p.missed(), ElementsAre(10));
    EXPECT_THAT(never_read(p), IsEmpty());
    EXPECT_EQ(*p.slots[10].completed_ns - p.play_start_ns, 740 * kMs);
    EXPECT_EQ(p.slots[10].edge_ns, -340 * kMs);
}

TEST(Predictor, DropPassesOverWhatIsPastItsDeadline) {
    const Prediction p = predict(plan_of(Policy::drop, 4, 1, 1 * kMs, {{10, 500 * kMs}}));
    // Up to 18 (720) are past when the one in-flight slot is free again at 740; 19 is due at 760 and read at
    // once.
    EXPECT_THAT(p.missed(), ElementsAre(10, 11, 12, 13, 14, 15, 16, 17, 18));
    EXPECT_THAT(never_read(p), ElementsAre(11, 12, 13, 14, 15, 16, 17, 18));
    EXPECT_EQ(p.slots[18].edge_ns, -20 * kMs);
    EXPECT_EQ(*p.slots[19].submitted_ns - p.play_start_ns, 740 * kMs);
    EXPECT_EQ(p.slots[19].edge_ns, 19 * kMs);
    EXPECT_EQ(p.slots[19].kind, Kind::on_time);
}

TEST(Predictor, BothInFlightSlotsLate) {
    // 10: 320 to 520 (due 400); 11: 360 to 560 (due 440). At 520 frame 12 (480) is past, 13 is due this instant
    // and still taken: there at 521, too late, but read; 14 (560) takes the in-flight slot that it leaves.
    const Prediction p =
        predict(plan_of(Policy::drop, 2, 2, 1 * kMs, {{0, 0}, {1, 0}, {10, 200 * kMs}, {11, 200 * kMs}}));
    ASSERT_EQ(p.play_start_ns, 0);
    EXPECT_THAT(p.missed(), ElementsAre(10, 11, 12, 13));
    EXPECT_THAT(never_read(p), ElementsAre(12));
    EXPECT_EQ(p.slots[13].completed_ns, 521 * kMs);
    EXPECT_EQ(p.slots[14].submitted_ns, 521 * kMs);
    EXPECT_EQ(p.slots[15].submitted_ns, 522 * kMs);
}

TEST(Predictor, ADeadlineIsMetByCompletingExactlyAtIt) {
    // R = 1: every read is submitted one period before its deadline.
    EXPECT_EQ(predict(plan_of(Policy::drop, 1, 1, 40 * kMs, {{0, 0}})).count(Kind::on_time), 40U);
    const Prediction p = predict(plan_of(Policy::drop, 1, 1, 40 * kMs + 1, {{0, 0}}));
    // Each next read begins one more nanosecond late; none is passed over, all but the first are late.
    EXPECT_EQ(p.count(Kind::dropped), 39U);
    EXPECT_THAT(never_read(p), IsEmpty());
    EXPECT_EQ(p.slots[39].edge_ns, -39);
}

TEST(Predictor, SkipIsDropWhileFramesComeInTime) {
    for (const std::uint64_t readahead : {1U, 2U, 8U}) {
        const auto slow = [&](Policy policy) {
            return predict(plan_of(policy, readahead, 1, 1 * kMs, {{10, 20 * kMs}, {20, 30 * kMs}}));
        };
        EXPECT_EQ(slow(Policy::skip).count(Kind::on_time), 40U);
        for (std::uint64_t slot = 0; slot < 40; slot++)
            EXPECT_EQ(slow(Policy::skip).slots[slot].submitted_ns, slow(Policy::drop).slots[slot].submitted_ns);
    }
}

TEST(Predictor, SkipReadsTheFirstFrameThatCanBeInTime) {
    // Every read takes 50 ms, one at a time, a frame is due every 40: the four frames of the read-ahead are
    // there at 200 ms. Frame 4 is read from 0 to 50 ms of play, 5 from 50 to 100, ..., 16 from 600 to 650 and
    // due at 640. Frame 15 (due at 600) is read from 550 on: 50 ms are left for it, which is enough. At 600, 50
    // ms are not left for 16 (640), but for 17 (680).
    const Prediction p = predict(plan_of(Policy::skip, 4, 1, 50 * kMs, {}));
    ASSERT_EQ(p.play_start_ns, 200 * kMs);
    EXPECT_EQ(*p.slots[15].submitted_ns - p.play_start_ns, 550 * kMs);
    EXPECT_EQ(p.slots[15].edge_ns, 0);
    EXPECT_EQ(*p.slots[17].submitted_ns - p.play_start_ns, 600 * kMs);
    EXPECT_EQ(p.slots[17].choice_ns, 10 * kMs);  // 16 was 10 ms too early, 17 is 30 ms early enough
    // Each next read begins 10 ms nearer to its deadline, and every fifth frame is passed over.
    EXPECT_THAT(p.missed(), ElementsAre(16, 21, 26, 31, 36));
    EXPECT_THAT(never_read(p), ElementsAre(16, 21, 26, 31, 36));
    EXPECT_EQ(p.slots[16].edge_ns, -10 * kMs);
    // Drop asks for each next frame when it is already too late for it: all of them come, and none in time.
    EXPECT_EQ(predict(plan_of(Policy::drop, 4, 1, 50 * kMs, {})).count(Kind::dropped), 24U);
}

TEST(Predictor, SkipExpectsWhatThreeQuartersOfTheLastSixteenFramesTook) {
    // Frame 20 is read from D(12) = 480 ms of play to 780, 20 ms before it is due; 21 is then due in 60 ms.
    // Frame 20 and `slow` others of the 16 frames 5 to 20 took longer than 10 ms.
    const auto play_with = [](std::uint64_t slow) {
        std::map<std::uint64_t, std::int64_t> reads{{20, 300 * kMs}};
        for (std::uint64_t i = 10; i < 10 + slow; i++) reads[i] = 70 * kMs;
        return predict(plan_of(Policy::skip, 8, 1, 10 * kMs, reads));
    };
    const Prediction three = play_with(3);  // 12 of 16 took 10 ms: so long is expected for 21
    const Prediction four = play_with(4);   // 11 did, and 70 ms are expected
    EXPECT_EQ(*three.slots[20].completed_ns - three.play_start_ns, 780 * kMs);
    EXPECT_EQ(*four.slots[20].completed_ns - four.play_start_ns, 780 * kMs);
    EXPECT_THAT(never_read(three), IsEmpty());
    EXPECT_THAT(never_read(four), ElementsAre(21));
    EXPECT_EQ(four.slots[21].edge_ns, -10 * kMs);
}

TEST(Predictor, SkipReadsTheLastFrameOfTheWindowWhereNoneCanBeInTime) {
    // Reads take 130 ms, with two frames ahead no frame is asked for more than 80 ms before it is due.
    const Prediction p = predict(plan_of(Policy::skip, 2, 1, 130 * kMs, {}));
    // 2: 0 to 130. At 130, 3 (120) is overdue; 4 (160) and 5 (200) are there: 5. At 260, 7 (280) and 8 (320).
    EXPECT_EQ(*p.slots[5].submitted_ns - p.play_start_ns, 130 * kMs);
    EXPECT_EQ(*p.slots[8].submitted_ns - p.play_start_ns, 260 * kMs);
    EXPECT_EQ(p.slots[8].choice_ns, 20 * kMs);  // 8 entered at 240, and 9 enters at 280
    EXPECT_EQ(p.count(Kind::on_time), 2U);
}

TEST(Predictor, SkipRecoversByItselfWhenTheStorageDoes) {
    std::map<std::uint64_t, std::int64_t> slow;
    for (std::uint64_t i = 8; i < 20; i++) slow[i] = 400 * kMs;
    Plan plan = plan_of(Policy::skip, 4, 2, 5 * kMs, slow);
    plan.slots = 100;
    const Prediction p = predict(plan);
    EXPECT_GT(p.count(Kind::dropped), 5U);
    for (std::uint64_t slot = 40; slot < 100; slot++) EXPECT_EQ(p.slots[slot].kind, Kind::on_time) << slot;
}

TEST(Predictor, HoldReadsEveryFrameInOrderAndDoesNotShiftTheClock) {
    const Prediction p =
        predict(plan_of(Policy::hold, 4, 1, 1 * kMs, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {10, 500 * kMs}}));
    ASSERT_EQ(p.play_start_ns, 0);
    EXPECT_THAT(p.missed(), ElementsAre(10, 11, 12, 13, 14, 15, 16, 17, 18));
    EXPECT_EQ(p.count(Kind::late), 9U);
    EXPECT_THAT(never_read(p), IsEmpty());
    EXPECT_EQ(p.slots[18].completed_ns, 748 * kMs);
    EXPECT_EQ(p.slots[19].completed_ns, 749 * kMs);
    EXPECT_EQ(p.slots[19].edge_ns, 11 * kMs);
    EXPECT_EQ(p.slots[30].deadline_ns, 1200 * kMs);
}

TEST(Predictor, StallStopsTheClockOnceAndShiftsWhatFollows) {
    const Prediction p =
        predict(plan_of(Policy::stall, 4, 1, 1 * kMs, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {10, 500 * kMs}}));
    EXPECT_EQ(p.count(Kind::on_time), 40U);
    EXPECT_EQ(p.stalls, 1U);
    EXPECT_EQ(p.stall_ns, 340 * kMs);
    EXPECT_EQ(p.slots[10].deadline_ns, 740 * kMs);
    EXPECT_EQ(p.slots[10].completed_ns, 740 * kMs);
    EXPECT_EQ(p.slots[10].edge_ns, -340 * kMs);
    EXPECT_EQ(p.slots[11].deadline_ns, 780 * kMs);
    EXPECT_EQ(p.slots[11].completed_ns, 741 * kMs);
    EXPECT_EQ(p.slots[14].scheduled_ns, 740 * kMs);  // entered when 10 went on display
    EXPECT_EQ(p.slots[39].deadline_ns, (39 * 40 + 340) * kMs);
}

TEST(Predictor, StallsAddUp) {
    const Prediction p =
        predict(plan_of(Policy::stall, 1, 1, 0, {{10, 100 * kMs}, {11, 70 * kMs}, {20, 41 * kMs}}));
    EXPECT_EQ(p.stalls, 3U);
    EXPECT_EQ(p.stall_ns, (60 + 30 + 1) * kMs);
    EXPECT_EQ(p.slots[39].deadline_ns, (39 * 40 + 91) * kMs);
}

TEST(Predictor, FailedFramesFreeTheirInFlightSlotAndNeitherDropNorStall) {
    for (const Policy policy : {Policy::drop, Policy::hold, Policy::stall}) {
        Plan plan = plan_of(policy, 2, 1, 1 * kMs, {});
        plan.read = [](std::uint64_t slot, std::int64_t) { return ReadFate{1 * kMs, slot % 2 == 1}; };
        const Prediction p = predict(plan);
        EXPECT_EQ(p.count(Kind::failed), 20U);
        EXPECT_EQ(p.count(Kind::on_time), 20U);
        EXPECT_EQ(p.stalls, 0U);
        EXPECT_EQ(p.slots[1].completed_ns, std::nullopt);
    }
}

TEST(Predictor, AReadThatFailsLateIsFailedAndHasKeptItsInFlightSlot) {
    Plan plan = plan_of(Policy::drop, 1, 1, 0, {});
    plan.read = [](std::uint64_t slot, std::int64_t) {
        return slot == 10 ? ReadFate{100 * kMs, true} : ReadFate{};
    };
    const Prediction p = predict(plan);
    EXPECT_EQ(p.slots[10].kind, Kind::failed);
    EXPECT_THAT(p.missed(), ElementsAre(11));
}

TEST(Predictor, AsksForEachReadWithItsSubmission) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> asked;
    Plan plan = plan_of(Policy::drop, 1, 1, 0, {});
    plan.slots = 3;
    plan.begin_ns = 7;
    plan.read = [&asked](std::uint64_t slot, std::int64_t submitted_ns) {
        asked.emplace_back(slot, submitted_ns);
        return ReadFate{};
    };
    predict(plan);
    EXPECT_THAT(asked, ElementsAre(std::pair(0, 7), std::pair(1, 7), std::pair(2, 40 * kMs + 7)));
}

}  // namespace
}  // namespace predictor
