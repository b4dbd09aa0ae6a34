// The progress that a view reads while a stream plays.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "player_fixture.h"

namespace streamsim::test {
namespace {

std::vector<Miss> misses_of(const StreamProgress& progress) {
    std::vector<Miss> misses;
    progress.misses.read(misses);
    std::sort(misses.begin(), misses.end(), [](const Miss& a, const Miss& b) { return a.slot < b.slot; });
    return misses;
}

TEST(Progress, SaysWhichSlotsWereMissedLastAndWhenTheyWereDue) {
    Play play;
    play.delay(20, milliseconds(500)).run();
    EXPECT_EQ(play.progress->bad, 11u);
    EXPECT_EQ(play.progress->due, 96u);
    EXPECT_EQ(play.progress->state, StreamState::ended);
    EXPECT_EQ(play.progress->play_start_ns, 0);
    const auto misses = misses_of(*play.progress);
    ASSERT_EQ(misses.size(), RecentMisses::kKept);
    std::vector<std::uint64_t> slots;
    for (const Miss& miss : misses) {
        slots.push_back(miss.slot);
        EXPECT_EQ(miss.at_ns, play.due(miss.slot).ns);
        EXPECT_EQ(miss.kind, FrameKind::dropped);
        EXPECT_FALSE(miss.stall);
    }
    // Slot 20 itself was settled when its frame came, after those that were passed over.
    EXPECT_THAT(slots, testing::ElementsAre(20, 24, 25, 26, 27, 28, 29, 30));
}

TEST(Progress, CountsTheTimesOfMissesFromTheStartOfPlay) {
    Play play;
    play.options.inflight = 1;
    play.reads_take(milliseconds(3)).delay(20, milliseconds(100)).run();
    ASSERT_EQ(play.play_start, Instant{} + milliseconds(3));
    const auto misses = misses_of(*play.progress);
    ASSERT_FALSE(misses.empty());
    EXPECT_EQ(misses.front().slot, 20u);
    for (const Miss& miss : misses) EXPECT_EQ(miss.at_ns, play.due(miss.slot).ns);
}

TEST(Progress, CountsAFrameAsBufferedAsSoonAsItHasCome) {
    Play play;
    play.options.readahead = 8;
    play.options.inflight = 1;
    play.interrupt_at = Instant{} + milliseconds(80) + play.due(20) + milliseconds(20);
    play.reads_take(milliseconds(10)).run();
    ASSERT_EQ(play.play_start, Instant{} + milliseconds(80));
    EXPECT_EQ(play.progress->due, 21u);
    EXPECT_EQ(play.progress->buffered, 8u) << "slot 28 came 10 ms after slot 20 was displayed";
}

TEST(Progress, TheMarginOfLateForgetsWhatTheSmallestMarginRemembers) {
    Play play;
    play.options.readahead = 8;
    play.options.inflight = 1;
    play.reads_take(milliseconds(1)).delay(20, milliseconds(290)).run();
    EXPECT_EQ(play.progress->margin_min_ns, play.summary.margin_ns->min);
    const std::int64_t usual = (Duration{} + play.due(8) - play.due(0)).ns - 1'000'000;
    EXPECT_NEAR(static_cast<double>(play.progress->margin_lately_ns), static_cast<double>(usual), 10.0);
}

TEST(Progress, AClockThatStandsStillSaysSo) {
    Play play;
    play.options.on_miss = play::OnMiss::stall;
    play.options.inflight = 1;
    play.delay(20, milliseconds(500)).run();
    EXPECT_EQ(play.progress->stalls, 1u);
    const auto misses = misses_of(*play.progress);
    ASSERT_EQ(misses.size(), 1u);
    EXPECT_TRUE(misses.front().stall);
    EXPECT_EQ(misses.front().slot, 20u);
    EXPECT_EQ(misses.front().at_ns, play.due(20).ns);
    EXPECT_EQ(play.progress->state, StreamState::ended);
}

TEST(Progress, UnderHoldFramesThatAreOverdueAreMissedBeforeTheyCome) {
    Play play;
    play.options.on_miss = play::OnMiss::hold;
    play.options.readahead = 4;
    play.options.inflight = 1;
    play.look_at = Instant{} + play.due(30) + milliseconds(1);
    play.interrupt_at = *play.look_at + milliseconds(1);
    play.look = [&play](play::Player& player, play::DeadlineLedger& ledger) {
        EXPECT_EQ(play.progress->bad, 10u) << "slot 30 may have come in time and not be seen yet";
        EXPECT_EQ(play.progress->on_time, 20u);
        EXPECT_EQ(play.progress->margin_min_ns, (play.due(20) - play.due(30)).ns);
        metrics::TimeSeries series;
        const auto copy = ledger.empty_copy(series);
        for (const bool overdue : {true, false, true}) {
            ledger.catch_up(*copy);
            if (overdue) player.copy_overdue(*copy);
            copy->close();
            EXPECT_EQ(copy->counts().on_time, 20u);
            EXPECT_EQ(copy->counts().late, overdue ? 11u : 0u);
            EXPECT_EQ(copy->drops().size(), copy->counts().late);
            EXPECT_EQ(copy->last_due(), Instant{} + play.due(overdue ? 30 : 19));
        }
    };
    play.delay(20, seconds(3600)).run();
    EXPECT_EQ(play.counts.late, 11u);
    EXPECT_EQ(play.progress->bad, play.counts.late);
}

TEST(Progress, AStallIsShownBeforeItEnds) {
    Play play;
    play.options.on_miss = play::OnMiss::stall;
    play.look_at = Instant{} + play.due(20) + milliseconds(250);
    play.interrupt_at = *play.look_at + milliseconds(1);
    play.look = [&play](play::Player& player, play::DeadlineLedger& ledger) {
        EXPECT_EQ(play.progress->stalls, 1u);
        metrics::TimeSeries series;
        const auto copy = ledger.empty_copy(series);
        for (int i = 0; i < 2; ++i) {
            ledger.catch_up(*copy);
            player.copy_overdue(*copy);
            copy->close();
            EXPECT_EQ(copy->counts().stalls, 1u);
            EXPECT_EQ(copy->counts().stall_ns, milliseconds(250).ns);
            EXPECT_EQ(copy->stalls().size(), 1u);
        }
    };
    play.delay(20, seconds(3600)).run();
    EXPECT_EQ(play.counts.stalls, 1u);
    EXPECT_EQ(play.progress->stalls, 1u);
}

TEST(Progress, AnInterruptedStreamWasRemoved) {
    Play play;
    play.interrupt_at = Instant{} + seconds(1);
    play.run();
    EXPECT_EQ(play.progress->state, StreamState::removed);
}

TEST(RecentMisses, AreWholeOrNotThereWhileTheyAreWritten) {
    RecentMisses misses;
    std::atomic<bool> over{false};
    std::thread writing([&] {
        for (std::uint64_t i = 1; i <= 100'000; ++i) {
            misses.add({static_cast<std::int64_t>(i) * 3, i, FrameKind::failed, DropReason::error, false});
        }
        over = true;
    });
    std::vector<Miss> seen;
    do {
        seen.clear();
        misses.read(seen);
        for (const Miss& miss : seen) EXPECT_EQ(miss.at_ns, static_cast<std::int64_t>(miss.slot) * 3);
    } while (!over);
    writing.join();
    seen.clear();
    misses.read(seen);
    EXPECT_EQ(seen.size(), RecentMisses::kKept);
}

}  // namespace
}  // namespace streamsim::test
