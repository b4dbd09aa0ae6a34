// Policy skip: what the truth tests do not cover (tests/sim/truth_virtual_test.cc has the choice of each slot).
#include <algorithm>

#include "play/frame_times.h"
#include "player_fixture.h"

namespace streamsim::test {
namespace {

/// A storage that gives `percent` of the frames that a stream needs: each read takes so much longer than its
/// share of the time of the in-flight slots.
Play short_storage(play::OnMiss on_miss, std::int64_t percent, std::uint64_t slots) {
    Play play;
    play.options.on_miss = on_miss;
    play.options.slots = slots;
    play.options.readahead = 8;
    play.options.inflight = 2;
    play.reads_take(nanoseconds(2 * play.due(1).ns * 100 / percent));
    return play;
}

double share_dropped(const Play& play) {
    return static_cast<double>(play.counts.dropped) / static_cast<double>(play.options.slots);
}

TEST(PlayerSkip, LosesWhatTheStorageCannotGiveWhereDropLosesNearlyAll) {
    Play drop = short_storage(play::OnMiss::drop, 85, 192);
    drop.run();
    EXPECT_NEAR(share_dropped(drop), 0.78, 0.01) << "all that follow when the read-ahead is used up";
    Play skip = short_storage(play::OnMiss::skip, 85, 192);
    skip.run();
    EXPECT_NEAR(share_dropped(skip), 0.15 - 6.0 / 192, 0.01) << "the read-ahead has covered six frames";
    // Frames that came too late would be lost beside those that are passed over.
    for (const FrameOutcome& frame : skip.frames) {
        if (frame.kind == FrameKind::dropped) EXPECT_EQ(frame.completed, Instant::never()) << frame.slot;
    }
}

TEST(PlayerSkip, LosesNeverFewerThanTheShortageDictates) {
    constexpr std::uint64_t kSlots = 2400;
    for (const std::int64_t percent : {50, 70, 85, 95, 99, 100, 120}) {
        Play play = short_storage(play::OnMiss::skip, percent, kSlots);
        play.run();
        const double shortage = std::max(0.0, 1 - static_cast<double>(percent) / 100);
        EXPECT_LE(share_dropped(play), shortage + 0.001) << percent;
        // Beside what was read while it played, preroll and the read-ahead have given at most their frames.
        EXPECT_GE(static_cast<double>(play.counts.dropped) + 8 + 2, shortage * kSlots) << percent;
        EXPECT_EQ(play.counts.on_time + play.counts.dropped, kSlots) << percent;
    }
}

TEST(PlayerSkip, AStallOfTheFramesInFlightSkipsNoMoreThanDropDoes) {
    for (const std::uint32_t inflight : {1u, 2u, 8u}) {
        std::vector<std::uint64_t> dropped;
        for (const play::OnMiss on_miss : {play::OnMiss::drop, play::OnMiss::skip}) {
            Play play;
            play.options.on_miss = on_miss;
            play.options.readahead = 12;
            play.options.inflight = inflight;
            play.reads_take(milliseconds(1));
            // The storage answers nothing for a second: the reads in flight are the only ones that it delays.
            play.faults.stalls = {{milliseconds(2'000), milliseconds(1'000)}};
            play.run();
            if (on_miss == play::OnMiss::drop) dropped = play.slots_that_were(FrameKind::dropped);
            EXPECT_EQ(play.slots_that_were(FrameKind::dropped), dropped) << inflight;
        }
        EXPECT_GE(dropped.size(), 12u) << inflight;
    }
}

TEST(PlayerSkip, StorageThatIsFastAgainLosesNothingMore) {
    Play play = short_storage(play::OnMiss::skip, 60, 480);
    play.faults.rules.back().slots = {0, 240, 1};
    play.run();
    EXPECT_GT(play.counts.dropped, 80u);
    for (std::uint64_t slot = 250; slot < 480; ++slot)
        EXPECT_EQ(play.frames[slot].kind, FrameKind::on_time) << slot;
}

/// Reads that take longer than the whole read-ahead: no frame can be in time, and all the same one is read.
TEST(PlayerSkip, ReadsOnWhereNoFrameCanBeInTimeAndRecoversByItself) {
    Play play;
    play.options.on_miss = play::OnMiss::skip;
    play.options.slots = 480;
    play.options.readahead = 2;
    play.options.inflight = 1;
    play.reads_take(milliseconds(1));
    play.faults.rules.front().slots = {200, UINT64_MAX, 1};
    for (std::uint64_t slot = 20; slot < 200; ++slot) play.delay(slot, milliseconds(300));
    play.run();
    const auto read = std::count_if(play.frames.begin(), play.frames.end(), [](const FrameOutcome& frame) {
        return frame.slot >= 20 && frame.slot < 200 && frame.submitted != Instant::never();
    });
    EXPECT_NEAR(static_cast<double>(read), 180 / (0.3 * 24), 2) << "one after the other";
    for (std::uint64_t slot = 210; slot < 480; ++slot)
        EXPECT_EQ(play.frames[slot].kind, FrameKind::on_time) << slot;
}

TEST(PlayerSkip, WhereNoFrameCanBeInTimeTheNewestOfTheWindowIsRead) {
    Play play;
    play.options.on_miss = play::OnMiss::skip;
    play.options.slots = 240;
    play.options.readahead = 4;
    play.options.inflight = 1;
    play.reads_take(milliseconds(300)).run();
    std::uint64_t read = 0;
    for (const FrameOutcome& frame : play.frames) {
        if (frame.slot < 5 || frame.slot == 239 || frame.submitted == Instant::never()) continue;
        ++read;
        EXPECT_GE(play.play_start + play.due(frame.slot + 1 - 4), frame.submitted) << frame.slot;
    }
    EXPECT_GE(read, 30u);
}

TEST(PlayerSkip, WithoutDeadlinesNothingIsSkipped) {
    Play play;
    play.options.on_miss = play::OnMiss::skip;
    play.options.paced = false;
    play.options.slots = 1000;
    play.options.readahead = 4;
    play.reads_take(milliseconds(100)).run();
    EXPECT_EQ(play.counts.on_time, 1000u);
}

TEST(PlayerSkip, FilesThatWereOpenedAheadForSkippedFramesAreClosed) {
    Play play = short_storage(play::OnMiss::skip, 70, 480);
    play.options.pattern = play::AccessPattern::filename_prefetch;
    play.run();
    EXPECT_NEAR(share_dropped(play), 0.3, 0.02);
    EXPECT_EQ(play.closed, play.opened.size());
}

/// The clock waits for each jump, which leaves a stream without frames read ahead.
TEST(PlayerSkip, JumpsWaitForTheirFrames) {
    double dropped = 1;
    for (const play::OnMiss on_miss : {play::OnMiss::drop, play::OnMiss::skip}) {
        Play play = short_storage(on_miss, 85, 960);
        play.order = *play::PlayOrder::parse("scrub");
        play.run();
        EXPECT_GT(play.seeks.size(), 10u);
        for (const play::SeekEntry& seek : play.seeks) {
            EXPECT_EQ(play.frames[seek.slot].kind, FrameKind::on_time) << seek.slot;
            EXPECT_LE(seek.latency, milliseconds(2 * 98 + 1))
                << "at most one frame before it is still in flight";
        }
        if (on_miss == play::OnMiss::skip) EXPECT_LT(share_dropped(play), dropped / 2);
        dropped = share_dropped(play);
    }
}

/// Frames that come too late for the decoder are not decoded, and all the same their times count.
TEST(PlayerSkip, SkipsByTheTimeOfReadingAndDecoding) {
    Play play = short_storage(play::OnMiss::skip, 85, 960);
    play.decode_cpu = milliseconds(20);
    play.run();
    EXPECT_LE(share_dropped(play), 0.155);
    EXPECT_GE(play.counts.dropped + 10, 144u);
}

/// Frames wait for the decoder, which is not the storage's fault.
TEST(PlayerSkip, ADecoderThatIsTooSlowIsTheClientsFaultAtEveryWindow) {
    for (const std::uint32_t readahead : {1u, 2u, 3u, 8u}) {
        for (const std::uint32_t inflight : {1u, 2u, 4u}) {
            for (const std::int64_t read_ms : {0, 5, 30}) {
                Play play;
                play.options.on_miss = play::OnMiss::skip;
                play.options.slots = 480;
                play.options.readahead = readahead;
                play.options.inflight = inflight;
                play.decode_cpu = milliseconds(60);
                play.reads_take(milliseconds(read_ms)).run();
                EXPECT_GE(play.counts.dropped, 140u);
                const auto late = std::count_if(play.frames.begin(), play.frames.end(), [](const auto& frame) {
                    return frame.reason == DropReason::late;
                });
                EXPECT_EQ(late, 0) << readahead << " " << inflight << " " << read_ms;
            }
        }
    }
}

TEST(PlayerSkip, ThisClientIsToBlameForTheSlotsThatItsStopsCover) {
    for (const bool stopped : {false, true}) {
        Play play = short_storage(play::OnMiss::skip, 55, 480);
        for (const std::int64_t at_ms : {4'010, 6'030, 8'020, 10'040}) {
            if (stopped)
                play.stalls.push_back({Instant{} + milliseconds(at_ms), Instant{} + milliseconds(at_ms + 200)});
        }
        play.run();
        std::uint64_t of_client = 0;
        for (const FrameOutcome& frame : play.frames) {
            if (frame.reason != DropReason::client) continue;
            ++of_client;
            // A slot that is passed over after a stop is due later than that by the time that a read takes.
            EXPECT_TRUE(std::any_of(play.stalls.begin(), play.stalls.end(), [&](const LoopStall& stall) {
                return frame.deadline >= stall.from - milliseconds(50) &&
                       frame.deadline <= stall.to + milliseconds(500);
            })) << frame.slot;
        }
        const double covered = stopped ? 4 * 200 * 24.0 / 1000 : 0;
        EXPECT_GE(static_cast<double>(of_client), covered / 3);
        EXPECT_LE(static_cast<double>(of_client), covered * 1.5);
        EXPECT_GT(play.counts.dropped, 200u) << "45 % of the slots";
    }
}

FrameOutcome took(std::int64_t read_ms, std::int64_t decode_ms = 0) {
    FrameOutcome frame;
    frame.submitted = Instant{} + seconds(1);
    frame.delivered = frame.submitted + milliseconds(read_ms);
    frame.completed = frame.delivered + milliseconds(decode_ms);
    return frame;
}

TEST(FrameTimes, ThreeQuartersOfTheLastFramesDidNotExceedTheExpectedTime) {
    play::FrameTimes times(2);
    EXPECT_EQ(times.expected(), Duration{});
    times.add(took(10));
    EXPECT_EQ(times.expected(), milliseconds(10));
    times.add(took(20));
    EXPECT_EQ(times.expected(), milliseconds(20)) << "1.5 of 2 frames, rounded up";
    times.add(took(30));
    times.add(took(5));
    EXPECT_EQ(times.expected(), milliseconds(20)) << "3 of 4";
    for (int i = 0; i < 16; ++i) times.add(took(7));
    EXPECT_EQ(times.expected(), milliseconds(7));
    for (int i = 0; i < 4; ++i) times.add(took(90));
    EXPECT_EQ(times.expected(), milliseconds(7)) << "12 of 16";
    times.add(took(90));
    EXPECT_EQ(times.expected(), milliseconds(90));
}

TEST(FrameTimes, AllFramesInFlightAreAQuarterOfThoseThatCount) {
    play::FrameTimes times(8);
    for (int i = 0; i < 40; ++i) times.add(took(7));
    for (int i = 0; i < 8; ++i) times.add(took(500));
    EXPECT_EQ(times.expected(), milliseconds(7));
    times.add(took(500));
    EXPECT_EQ(times.expected(), milliseconds(500));
}

TEST(FrameTimes, AFrameThatCameTooLateToBeDecodedCountsWithTheDecodingTimeOfTheLast) {
    play::FrameTimes times(2);
    times.add(took(10, 30));
    EXPECT_EQ(times.expected(), milliseconds(40));
    for (int i = 0; i < 16; ++i) {
        FrameOutcome frame = took(100);
        frame.completed = Instant::never();
        times.add(frame);
    }
    EXPECT_EQ(times.expected(), milliseconds(130));
}

}  // namespace
}  // namespace streamsim::test
