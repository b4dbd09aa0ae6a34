// The end of a player before its last slot: which slots are missed, which are cancelled, and who is blamed.
#include <cerrno>

#include "player_fixture.h"

namespace streamsim::test {
namespace {

TEST(PlayerInterrupt, AtAnyInstantTheCountsAddUpAndEachDueSlotIsCounted) {
    // With one in-flight slot the frames behind a slow one become overdue unread.
    for (const std::uint32_t inflight : {1u, 2u}) {
        for (const play::OnMiss policy : kPolicies) {
            for (std::int64_t at_us = 0; at_us < 4'200'000; at_us += 23'456) {
                Play play;
                play.options.on_miss = policy;
                play.options.readahead = 3;
                play.options.inflight = inflight;
                play.options.pattern = play::AccessPattern::filename_prefetch;
                play.interrupt_at = Instant{at_us * 1000};
                play.reads_take(milliseconds(1))
                    .delay(20, milliseconds(500))
                    .delay(40, milliseconds(500))
                    .run();  // close() checks the sum
                EXPECT_LE(play.counts.cancelled, 3u) << inflight << " in flight, at " << at_us << " us";
                EXPECT_GE(play.counts.on_time, at_us > 1'000'000 ? 16u : 0u);
            }
        }
    }
}

TEST(PlayerInterrupt, UnderHoldAllOverdueFramesAreLateWhereAReadNeverEnds) {
    Play play;
    play.options.on_miss = play::OnMiss::hold;
    play.options.readahead = 4;
    play.options.inflight = 1;
    play.interrupt_at = Instant{} + play.due(30) + milliseconds(1);
    play.delay(20, seconds(3600)).run();
    EXPECT_EQ(play.counts.on_time, 20u);
    EXPECT_EQ(play.slots_that_were(FrameKind::late), range(20, 30));
    EXPECT_EQ(play.slots_that_were(FrameKind::cancelled), range(31, 34));
    for (const std::uint64_t slot : range(20, 30)) {
        EXPECT_EQ(play.frames[slot].reason, DropReason::late) << slot;
        EXPECT_EQ(play.frames[slot].deadline, Instant{} + play.due(slot));
        EXPECT_EQ(play.frames[slot].completed, Instant::never()) << slot;
        EXPECT_EQ(play.frames[slot].bytes, 0u) << slot;
    }
}

TEST(PlayerInterrupt, PlayLastsUntilThenWhereItsClockStood) {
    Play play;
    play.options.on_miss = play::OnMiss::stall;
    play.interrupt_at = Instant{} + play.due(20) + seconds(5);
    play.delay(20, seconds(3600)).run();
    EXPECT_EQ(play.counts.stalls, 1u);
    EXPECT_EQ(play.summary.last_due_ns, (play.due(20) + seconds(5)).ns);
}

TEST(DeadlineLedger, AStallThatDoesNotEndIsInTheTimeSeries) {
    metrics::TimeSeries series;
    play::DeadlineLedger ledger({.slots = 2, .drops_kept = 2}, series);
    ledger.play_started(Instant{}, Instant{}, Instant{});
    ledger.stalled({}, Instant{} + seconds(1), Instant{} + seconds(5), false);
    EXPECT_EQ(static_cast<std::int64_t>(series.intervals().size()) * series.interval().ns, seconds(5).ns);
}

TEST(PlayerInterrupt, ACancelledFrameHasNoReasonAlsoWhereItHadFailed) {
    for (std::int64_t at_us = 0; at_us < 200'000; at_us += 2'345) {
        Play play;
        play.options.readahead = 5;
        play.interrupt_at = Instant{at_us * 1000};
        play.reads_take(milliseconds(20)).fail({1, UINT64_MAX, 2}, EIO).run();
        for (const FrameOutcome& frame : play.frames) {
            if (frame.kind != FrameKind::cancelled) continue;
            EXPECT_EQ(frame.reason, DropReason::none) << "slot " << frame.slot << " at " << at_us << " us";
            EXPECT_EQ(frame.error, 0);
        }
    }
}

TEST(PlayerInterrupt, AFrameThatWaitsForTheTailOfOneThatIsGivenUpEnds) {
    for (std::int64_t at_us = 0; at_us < 1'000'000; at_us += 7'654) {
        Play play;
        play.file_per_frame = false;
        play.frame_bytes = 10'000;
        play.options.pattern = play::AccessPattern::streaming;
        play.options.io_size = 512;
        play.options.io_depth = 2;
        play.options.readahead = 3;
        play.interrupt_at = Instant{at_us * 1000};
        play.faults.stalls = {{milliseconds(100), milliseconds(300)}, {milliseconds(600), milliseconds(300)}};
        play.run();
    }
}

TEST(PlayerDecodes, AnInterruptionEndsWhenTheFramesThatAreBeingDecodedAre) {
    for (const play::OnMiss policy : kPolicies) {
        Play play;
        play.options.on_miss = policy;
        play.options.readahead = 8;
        play.decode_cpu = milliseconds(30);
        play.interrupt_at = Instant{} + milliseconds(1'000);
        play.run();
        EXPECT_GT(play.counts.on_time, 10u);
        EXPECT_EQ(play.counts.on_time + play.counts.cancelled, play.counts.scheduled);
        EXPECT_GT(play.counts.cancelled, 0u);
    }
}

/// Frames are read at once, and wait for the decoder; the last ones have no buffer before it gives one back.
TEST(PlayerDecodes, AnInterruptionBlamesADecoderThatIsTooSlow) {
    for (const play::OnMiss policy : kPolicies) {
        Play play;
        play.options.on_miss = policy;
        play.options.slots = 1440;
        play.options.readahead = 8;
        play.decode_cpu = milliseconds(45);  // 41.7 ms a frame are there
        play.interrupt_at = Instant{} + seconds(20);
        play.run();
        EXPECT_GT(play.counts.dropped + play.counts.late + play.counts.stalls, 5u);
        for (const FrameOutcome& frame : play.frames) EXPECT_NE(frame.reason, DropReason::late) << frame.slot;
        EXPECT_EQ(play.client_stalls, play.counts.stalls);
    }
}

}  // namespace
}  // namespace streamsim::test
