// A player with a verifier: the check costs no frame its deadline, and a frame that differs has failed.
#include <gtest/gtest.h>

#include "unit/play/player_fixture.h"

namespace streamsim::test {
namespace {

Play verified(play::OnMiss policy) {
    Play play;
    play.options.verify = true;
    play.options.on_miss = policy;
    play.options.readahead = 8;
    play.verify_takes = milliseconds(2);
    return play;
}

TEST(PlayerVerifies, ACheckThatEndsAfterTheDeadlineMakesNoFrameLate) {
    for (const play::OnMiss policy : kPolicies) {
        Play play = verified(policy);
        play.options.readahead = 4;
        play.reads_take(milliseconds(30));
        play.verify_takes = milliseconds(100);  // 2.4 frames
        play.run();
        EXPECT_EQ(play.counts.on_time, 96u);
        EXPECT_EQ(play.counts.stalls, 0u);
    }
}

TEST(PlayerVerifies, ACheckThatIsTooSlowIsTheClientsFault) {
    for (const play::OnMiss policy : kPolicies) {
        Play play = verified(policy);
        play.options.slots = 480;
        play.reads_take(milliseconds(30));
        play.verify_takes = seconds(1);
        play.run();
        EXPECT_GT(play.counts.dropped + play.counts.late + play.counts.stalls, 10u);
        for (const FrameOutcome& frame : play.frames) EXPECT_NE(frame.reason, DropReason::late) << frame.slot;
        EXPECT_EQ(play.client_stalls, play.counts.stalls);
    }
}

/// In each pass the same frames, however they are read: files of their own, pieces of a container, or pieces
/// that hold the end of one frame and the beginning of others.
TEST(PlayerVerifies, FramesThatDifferHaveFailedAndNoOthers) {
    struct Reading {
        bool files;
        play::AccessPattern pattern;
        std::uint64_t io_size;
    };
    for (const Reading& reading : {Reading{true, play::AccessPattern::filename_prefetch, 0},
                                   Reading{true, play::AccessPattern::on_demand, 300},
                                   Reading{false, play::AccessPattern::on_demand, 700},
                                   Reading{false, play::AccessPattern::streaming, 256},
                                   Reading{false, play::AccessPattern::streaming, 1500},
                                   Reading{false, play::AccessPattern::streaming, 7000}}) {
        for (const play::OnMiss policy : kPolicies) {
            Play play = verified(policy);
            play.corrupt = {0, 5, 6, 47};
            play.file_per_frame = reading.files;
            play.options.pattern = reading.pattern;
            play.options.io_size = reading.io_size;
            play.run();
            EXPECT_EQ(play.slots_that_were(FrameKind::failed),
                      (std::vector<std::uint64_t>{0, 5, 6, 47, 48, 53, 54, 95}));
            EXPECT_EQ(play.counts.on_time, 88u);
            EXPECT_EQ(play.counts.bytes_read, 88'000u);
            for (const FrameOutcome& frame : play.frames) {
                if (frame.kind != FrameKind::failed) continue;
                EXPECT_EQ(frame.reason, DropReason::corrupt);
                EXPECT_EQ(frame.clip_frame, frame.slot % 48);
                EXPECT_EQ(frame.corrupt_at, (reading.files ? 0 : frame.clip_frame * 1000) + 3);
                EXPECT_EQ(frame.completed, Instant::never());
                EXPECT_EQ(frame.bytes, 0u);
            }
        }
    }
}

TEST(PlayerVerifies, WhatFailsIsNotDecoded) {
    Play play = verified(play::OnMiss::stall);
    play.decode_cpu = milliseconds(10);
    play.corrupt = {7};
    play.run();
    EXPECT_EQ(play.slots_that_were(FrameKind::failed), (std::vector<std::uint64_t>{7, 55}));
    EXPECT_EQ(play.counts.on_time, 94u);
}

/// A frame that is being checked is not known to be right.
TEST(PlayerVerifies, AnInterruptionCancelsFramesThatAreBeingChecked) {
    for (const play::OnMiss policy : kPolicies) {
        Play play = verified(policy);
        play.verify_takes = milliseconds(100);
        play.interrupt_at = Instant{} + milliseconds(1'050);
        play.run();
        EXPECT_GT(play.counts.on_time, 10u);
        EXPECT_GE(play.counts.cancelled, 2u);
        EXPECT_EQ(play.counts.on_time + play.counts.cancelled, play.counts.scheduled);
    }
}

/// With a read-ahead of 2 a frame is read 83 ms before its deadline, and its check ends after that.
TEST(PlayerVerifies, AnInterruptionAfterTheDeadlineMissesNoFrameThatCameInTime) {
    for (const play::OnMiss policy : kPolicies) {
        for (std::int64_t at_ms = 101; at_ms < 580; at_ms += 7) {
            Play play = verified(policy);
            play.options.readahead = 2;
            play.verify_takes = milliseconds(100);
            play.interrupt_at = Instant{} + milliseconds(at_ms);
            play.run();
            EXPECT_GE(play.counts.cancelled, 1u) << at_ms;
            EXPECT_EQ(play.counts.on_time + play.counts.cancelled, play.counts.scheduled) << at_ms;
            EXPECT_EQ(play.counts.stalls, 0u) << at_ms;
        }
    }
}

/// The read of slot 20 takes 100 ms, 17 ms more than it has; its check has not ended at the interruption.
TEST(PlayerVerifies, AnInterruptionDuringTheCheckOfALateFrameBlamesTheStorage) {
    for (const play::OnMiss policy : {play::OnMiss::drop, play::OnMiss::skip, play::OnMiss::hold}) {
        Play play = verified(policy);
        play.options.readahead = 2;
        play.delay(20, milliseconds(100));
        play.interrupt_at = Instant{} + milliseconds(2) + play.due(20) + milliseconds(18);
        play.run();
        EXPECT_EQ(play.slots_that_were(policy == play::OnMiss::hold ? FrameKind::late : FrameKind::dropped),
                  range(20, 20));
        EXPECT_EQ(play.frames[20].reason, DropReason::late);
    }
}

}  // namespace
}  // namespace streamsim::test
