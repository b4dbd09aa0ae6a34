#include <cerrno>

#include "player_fixture.h"

namespace streamsim::test {
namespace {

constexpr Duration kStall = milliseconds(500);  // exactly 12 periods at 24 fps

TEST(PlayerDrop, AStallOf12PeriodsCosts11SlotsWhenReadsTakeNoTime) {
    Play play;
    play.delay(20, kStall).run();
    EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(20, 30));
    EXPECT_EQ(play.counts.on_time, 96u - 11);
    EXPECT_EQ(play.summary.longest_drop_run, 11u);
}

TEST(PlayerDrop, AStallOf12PeriodsCosts12SlotsWhenReadsTakeTime) {
    Play play;
    play.options.inflight = 1;
    play.reads_take(milliseconds(1)).delay(20, kStall).run();
    EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(20, 31));
    EXPECT_EQ(play.frames[20].completed, play.play_start + play.due(19) + kStall + milliseconds(1));
    EXPECT_EQ(play.frames[25].completed, Instant::never()) << "passed over, never read";
    EXPECT_EQ(play.frames[25].bytes, 0u);
    EXPECT_EQ(play.frames[32].kind, FrameKind::on_time) << "back in time on the next frame";
    EXPECT_EQ(play.frames[20].reason, DropReason::late);
    EXPECT_EQ(play.frames[25].reason, DropReason::late);
}

TEST(PlayerDrop, ASlotDueExactlyWhenAnInflightSlotBecomesFreeIsNotOverdueAndIsRead) {
    for (const int ns_later : {0, 1}) {
        Play play;
        play.options.inflight = 1;
        // Slot 20 enters at D(19) and has the only in-flight slot until D(31), or a nanosecond later.
        const Duration held = play.due(31) - play.due(19) - milliseconds(1) + nanoseconds(ns_later);
        play.reads_take(milliseconds(1)).delay(20, held).run();
        const std::uint64_t read_next = ns_later == 0 ? 31 : 32;
        for (std::uint64_t slot = 21; slot < read_next; ++slot)
            EXPECT_EQ(play.frames[slot].submitted, Instant::never()) << slot << " is overdue";
        EXPECT_NE(play.frames[read_next].submitted, Instant::never()) << ns_later;
        if (ns_later == 0) {
            EXPECT_EQ(play.frames[31].submitted, play.play_start + play.due(31));
        }
        // It is read, and comes a millisecond after its deadline.
        EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(20, 31));
    }
}

TEST(PlayerDrop, AReadAheadOf8CoversAStallOf7Periods) {
    Play play;
    play.options.readahead = 8;
    play.options.inflight = 1;
    play.reads_take(milliseconds(1)).delay(20, milliseconds(290)).run();
    EXPECT_EQ(play.counts.on_time, 96u);
    EXPECT_EQ(play.summary.margin_ns->min, (Duration{} + play.due(20) - play.due(12)).ns - 291'000'000);
}

TEST(PlayerDrop, ALateReadKeepsItsInFlightSlotAndTheOtherReadsOn) {
    Play play;
    play.options.readahead = 2;
    play.options.inflight = 2;
    play.reads_take(milliseconds(1)).delay(20, kStall).run();
    EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(20, 20));
}

TEST(PlayerDrop, ACompletionAtTheDeadlineIsOnTimeAndANanosecondLaterIsNot) {
    for (const bool late : {false, true}) {
        Play play;
        play.options.inflight = 1;
        // Slot 21 enters at D(20); the two deadlines are 41,666,667 ns apart.
        play.delay(21, nanoseconds(play.due(21).ns - play.due(20).ns + (late ? 1 : 0))).run();
        EXPECT_EQ(play.slots_that_were(FrameKind::dropped),
                  late ? range(21, 21) : std::vector<std::uint64_t>{});
        EXPECT_EQ(play.summary.margin_ns->min, late ? -1 : 0);
    }
}

TEST(PlayerDrop, StartUpDropsAreThoseDueInTheFirstSecond) {
    Play play;
    play.options.inflight = 1;
    play.delay(20, kStall).run();
    EXPECT_EQ(play.counts.dropped, 11u);
    EXPECT_EQ(play.counts.startup_drops, 4u) << "slots 20 to 23";
}

TEST(PlayerHold, LateFramesAreShownInOrderAndTheClockIsNotShifted) {
    Play play;
    play.options.on_miss = play::OnMiss::hold;
    play.options.inflight = 1;
    play.reads_take(milliseconds(1)).delay(20, kStall).run();
    // Frame 20 comes at D(19) + 501 ms = D(31) + 1 ms; then 21, 22, ... one a millisecond, until one is in
    // time.
    EXPECT_EQ(play.slots_that_were(FrameKind::late), range(20, 31));
    EXPECT_EQ(play.frames[31].completed, play.play_start + play.due(31) + milliseconds(12));
    EXPECT_EQ(play.counts.dropped, 0u);
    EXPECT_EQ(play.ended, play.play_start + play.due(95));
}

TEST(PlayerStall, TheClockStopsUntilTheFrameIsThere) {
    Play play;
    play.options.on_miss = play::OnMiss::stall;
    play.options.inflight = 1;
    play.reads_take(milliseconds(1)).delay(20, kStall).delay(60, milliseconds(100)).run();
    EXPECT_EQ(play.counts.stalls, 2u);
    EXPECT_EQ(play.counts.on_time, 96u);
    EXPECT_EQ(play.counts.dropped, 0u);
    const std::int64_t first = 501'000'000 - (play.due(20).ns - play.due(19).ns);
    const std::int64_t second = 101'000'000 - (play.due(60).ns - play.due(59).ns);
    EXPECT_EQ(play.counts.stall_ns, first + second);
    EXPECT_EQ(play.frames[95].deadline, play.play_start + play.due(95) + nanoseconds(first + second));
    EXPECT_EQ(play.frames[20].deadline, play.frames[20].completed);
}

TEST(PlayerFails, EverySecondFrameFailsUnderEachPolicyAndNothingWaitsForIt) {
    for (const play::OnMiss policy : kPolicies) {
        Play play;
        play.options.on_miss = policy;
        play.options.readahead = 4;
        play.reads_take(milliseconds(1)).fail({1, UINT64_MAX, 2}, EIO).run();
        EXPECT_EQ(play.counts.failed, 48u);
        EXPECT_EQ(play.counts.on_time, 48u);
        EXPECT_EQ(play.counts.stalls, 0u);
        EXPECT_EQ(play.counts.bytes_read, 48'000u) << "what failed is not in the throughput";
        EXPECT_EQ(play.frames[1].reason, DropReason::error);
        EXPECT_EQ(play.frames[1].error, EIO);
    }
}

TEST(PlayerFails, AMissingFileAndAShortOneSaySo) {
    Play play;
    storage::FaultRule missing;
    missing.file = "f.7.dpx";
    missing.missing = true;
    storage::FaultRule cut;
    cut.file = "f.9.dpx";
    cut.short_bytes = 400;
    play.faults.rules = {missing, cut};
    play.options.pattern = play::AccessPattern::filename_prefetch;
    play.options.readahead = 4;
    play.run();
    EXPECT_EQ(play.slots_that_were(FrameKind::failed), (std::vector<std::uint64_t>{7, 9, 55, 57}))
        << "on each pass";
    EXPECT_EQ(play.frames[7].reason, DropReason::missing);
    EXPECT_EQ(play.frames[9].reason, DropReason::short_read);
}

TEST(PlayerWindow, FramesEnterAtTheDeadlineOfTheFrameReadAheadBeforeThem) {
    Play play;
    play.options.readahead = 5;
    play.options.inflight = 1;
    play.reads_take(milliseconds(2)).run();
    EXPECT_EQ(play.play_start, Instant{10'000'000}) << "five frames, one after the other";
    for (std::uint64_t k = 0; k < 5; ++k) {
        EXPECT_EQ(play.frames[k].scheduled, Instant{0});
        EXPECT_EQ(play.frames[k].submitted, Instant{} + milliseconds(2 * static_cast<std::int64_t>(k)));
    }
    for (std::uint64_t k = 5; k < 96; ++k) {
        EXPECT_EQ(play.frames[k].scheduled, play.play_start + play.due(k - 5));
        EXPECT_EQ(play.frames[k].submitted, play.frames[k].scheduled);
    }
    EXPECT_EQ(play.summary.start_delay_ns, 10'000'000);
    EXPECT_EQ(play.summary.buffer_frames->min, 4u) << "the emptying at the end is not counted";
}

TEST(PlayerWindow, ClipsShorterThanTheWindowLoopAndEveryPassIsRead) {
    Play play;
    play.clip_frames = 3;
    play.options.readahead = 8;
    play.run();
    EXPECT_EQ(play.counts.on_time, 96u);
    EXPECT_EQ(play.counts.bytes_read, 96'000u);
    EXPECT_EQ(play.frames[95].clip_frame, 2u);
}

TEST(PlayerStreaming, PiecesOnTheGridAreReadOnceAndFramesShareThem) {
    for (const std::uint64_t io_size : {512u, 700u, 4096u, 100'000u}) {
        Play play;
        play.file_per_frame = false;
        play.options.pattern = play::AccessPattern::streaming;
        play.options.io_size = io_size;
        play.options.readahead = 4;
        play.reads_take(microseconds(10)).run();
        EXPECT_EQ(play.counts.on_time, 96u) << io_size;
        EXPECT_EQ(play.counts.bytes_read, 96'000u);
    }
}

TEST(PlayerStreaming, AFrameWaitsForThePieceThatAnEarlierFrameAskedFor) {
    Play play;
    play.file_per_frame = false;
    play.options.pattern = play::AccessPattern::streaming;
    play.options.io_size = 1500;  // piece 10 (15000 to 16499) holds frame 15 and half of 16
    play.options.readahead = 2;
    play.options.inflight = 2;
    play.delay(15, milliseconds(130)).run();
    EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(15, 16));
    EXPECT_EQ(play.frames[15].completed, play.frames[16].completed);
}

/// Piece 0 has frames 0 to 2. Slot 4 is late by so much that slots 5 to 8 are passed over, and with them the
/// rest of its pass and the first frame of the next one.
TEST(PlayerStreaming, APieceOfThePassBeforeIsReadAnewWhereTheFirstFrameOfAPassIsPassedOver) {
    Play play;
    play.file_per_frame = false;
    play.clip_frames = 4;
    play.options.pattern = play::AccessPattern::streaming;
    play.options.io_size = 3000;
    play.options.inflight = 1;
    play.reads_take(milliseconds(1)).delay(4, milliseconds(216)).run();
    EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(4, 8));
    EXPECT_EQ(play.frames[9].clip_frame, 1u);
    EXPECT_EQ(play.frames[9].completed - play.frames[9].submitted, milliseconds(1));
}

/// Frames of 5,050 and of 100 bytes in turn, one behind the other.
class UnequalClip final : public TinyClip {
public:
    UnequalClip() : TinyClip(48, false) {}
    Extent extent(std::uint64_t frame) const override {
        const std::uint64_t pair = frame / 2 * 5150;
        return frame % 2 == 0 ? Extent{pair, 5050} : Extent{pair + 5050, 100};
    }
    std::uint64_t largest_frame_bytes() const override { return 5050; }
};

/// Each long frame waits for its first piece. Its last one, which has all of the next frame, is there long
/// before.
TEST(PlayerStreaming, AFrameWhosePieceWasThereIsLateForItsInFlightSlotAndNotForTheClient) {
    Play play;
    play.path = play::make_path({std::make_shared<UnequalClip>()}, {}, std::nullopt, 1);
    play.options.pattern = play::AccessPattern::streaming;
    play.options.on_miss = play::OnMiss::hold;
    play.options.io_size = 1000;
    play.options.inflight = 1;
    play.reads_take(milliseconds(100)).run();
    EXPECT_GT(play.counts.late, 80u);
    for (const FrameOutcome& frame : play.frames)
        EXPECT_NE(frame.reason, DropReason::client) << "slot " << frame.slot;
}

TEST(PlayerMax, ReadsAllFramesWithoutDeadlines) {
    Play play;
    play.options.paced = false;
    play.options.slots = 1000;
    play.options.readahead = 4;
    play.reads_take(milliseconds(1)).run();
    EXPECT_EQ(play.counts.on_time, 1000u);
    EXPECT_FALSE(play.summary.margin_ns.has_value());
    EXPECT_EQ(play.ended, Instant{500'000'000}) << "two at a time";
}

TEST(PlayerMax, AFailureIsJudgedByTheTimeAtWhichItWasSeen) {
    Play play;
    play.options.paced = false;
    play.options.inflight = 1;
    play.reads_take(milliseconds(1)).fail({50, 50, 1}, EIO).run();
    EXPECT_EQ(play.slots_that_were(FrameKind::failed), range(50, 50));
    EXPECT_EQ(play.frames[50].deadline, Instant::never());
    EXPECT_GE(play.frames[50].due(), Instant{50'000'000});
    EXPECT_LE(play.frames[50].due(), Instant{51'000'000});
}

TEST(PlayerClock, ADayAt24000Over1001EndsOnTheNanosecond) {
    Play play;
    play.rate = {24000, 1001};
    play.options.slots = play.rate.slots_in(seconds(86400));
    EXPECT_EQ(play.options.slots, 2'071'529u);
    play.options.slots = 100'000;  // the arithmetic of the last slot is tested in base; the player uses it
    play.run();
    EXPECT_EQ(play.frames.back().deadline.ns, 99'999ull * 1001 * 1'000'000'000 / 24000);
}

/// They end 10 ms after a deadline or more: decoding makes no frame miss its own.
TEST(PlayerOpens, OpensThatHangCostTheirInFlightSlotsAndNothingMore) {
    for (const std::int64_t i : {0, 1, 2, 3}) {
        Play play;
        play.options.slots = 480;
        play.options.readahead = 8;
        play.options.pattern = i < 2 ? play::AccessPattern::filename_prefetch : play::AccessPattern::on_demand;
        play.decode_cpu = milliseconds(i % 2);
        storage::FaultRule slow;
        slow.operation = storage::FaultRule::Operation::open;
        slow.slots = {30, 200, 1};
        slow.delay = milliseconds(3'010);
        play.faults.rules.push_back(slow);
        play.run();
        EXPECT_GT(play.counts.dropped, 170u);
        EXPECT_GT(play.counts.on_time, 200u);
        for (const FrameOutcome& frame : play.frames) EXPECT_NE(frame.reason, DropReason::client) << frame.slot;
    }
}

/// Frame 40 comes just before its deadline, whatever it costs the frames behind it, which wait for its
/// in-flight slot.
struct OneAfterTheOther : Play {
    OneAfterTheOther() {
        options.readahead = 8;
        options.inflight = 1;
        options.on_miss = play::OnMiss::hold;
        delay(40, due(40) - due(32) - milliseconds(1));
    }
    void stall(Duration from, Duration to) { stalls.push_back({Instant{} + from, Instant{} + to}); }
};

/// The frame has its in-flight slot at 0.1 s. Its file, which was asked for with the window, is open at 0.3 s
/// only.
TEST(PlayerOpens, AFrameIsReadWhenItsOpenHasEndedAndNotBefore) {
    Play play;
    play.options.pattern = play::AccessPattern::filename_prefetch;
    play.options.readahead = 4;
    play.options.inflight = 1;
    play.reads_take(milliseconds(50));
    storage::FaultRule slow;
    slow.operation = storage::FaultRule::Operation::open;
    slow.slots = {2, 2, 1};
    slow.delay = milliseconds(300);
    play.faults.rules.push_back(slow);
    play.run();
    EXPECT_EQ(play.frames[2].submitted, Instant{} + milliseconds(100));
    EXPECT_EQ(play.frames[2].opened, Instant{} + milliseconds(300));
    EXPECT_EQ(play.frames[2].completed, Instant{} + milliseconds(350));
}

TEST(PlayerBlames, ALoopThatCannotRunWhileTheStorageHasAllItCanBeGivenHasCostNothing) {
    OneAfterTheOther play;
    play.delay(41, milliseconds(50));  // 7.3 ms too late
    for (const std::uint64_t slot : {33U, 34U, 35U})
        play.stall(play.due(slot) + milliseconds(2), play.due(slot) + milliseconds(12));
    play.run();
    EXPECT_EQ(play.slots_that_were(FrameKind::late), range(41, 41));
    EXPECT_EQ(play.frames[41].completed, Instant{} + play.due(40) + milliseconds(49));
    EXPECT_EQ(play.frames[41].reason, DropReason::late);
}

TEST(PlayerBlames, ALoopThatPollsTooLateForTheInFlightSlotIsToBlameAlsoForFramesThatWaitForIt) {
    for (const bool stalled : {false, true}) {
        OneAfterTheOther play;
        play.delay(41, milliseconds(40)).delay(42, milliseconds(42)).delay(43, milliseconds(60));
        if (stalled) play.stall(play.due(40) - milliseconds(2), play.due(40) + milliseconds(8));
        play.run();
        if (!stalled) {
            EXPECT_EQ(play.slots_that_were(FrameKind::late), range(43, 43));
            continue;
        }
        EXPECT_EQ(play.slots_that_were(FrameKind::late), range(41, 43));
        EXPECT_EQ(play.frames[41].submitted, Instant{} + play.due(40) + milliseconds(8));
        EXPECT_EQ(play.frames[41].reason, DropReason::client);  // 6.3 ms late, 9 of them the client's
        EXPECT_EQ(play.frames[42].reason, DropReason::client);  // 6.7 ms
        EXPECT_EQ(play.frames[43].reason, DropReason::late);    // 25 ms
    }
}

/// A storage that gives one frame in 75 ms, where one is due every 41.7 ms, and a loop that cannot run four
/// times.
struct TooSlowAndStopped : Play {
    explicit TooSlowAndStopped(play::OnMiss on_miss, bool stopped = true) {
        options.slots = 480;
        options.readahead = 8;
        options.on_miss = on_miss;
        reads_take(milliseconds(150));
        for (const std::int64_t at_ms : {4'010, 6'030, 8'020, 10'040}) {
            if (stopped)
                stalls.push_back({Instant{} + milliseconds(at_ms), Instant{} + milliseconds(at_ms + 100)});
        }
    }
    std::uint64_t of_client() const {
        return static_cast<std::uint64_t>(std::count_if(frames.begin(), frames.end(), [](const auto& frame) {
            return frame.reason == DropReason::client;
        }));
    }
};

TEST(PlayerBlames, StopsBesideAStorageThatIsTooSlowAreToBlameForTheSlotsThatTheyCover) {
    TooSlowAndStopped undisturbed(play::OnMiss::drop, false);
    undisturbed.run();
    EXPECT_EQ(undisturbed.of_client(), 0u);
    TooSlowAndStopped play(play::OnMiss::drop);
    play.run();
    const double covered = 4 * 100 * 24.0 / 1000;
    EXPECT_GE(static_cast<double>(play.of_client()), covered / 2);
    EXPECT_LE(static_cast<double>(play.of_client()), covered * 1.5);
    EXPECT_GT(play.counts.dropped, 400u);
    // Long after each stop nothing is the client's.
    for (const FrameOutcome& frame : play.frames) {
        if (frame.reason != DropReason::client) continue;
        EXPECT_TRUE(std::any_of(play.stalls.begin(), play.stalls.end(), [&](const LoopStall& stall) {
            return frame.deadline >= stall.from - milliseconds(50) &&
                   frame.deadline <= stall.to + milliseconds(300);
        })) << frame.slot;
    }
}

TEST(PlayerBlames, AClockThatWaitsMakesUpForTheStopsToo) {
    TooSlowAndStopped play(play::OnMiss::stall);
    play.run();
    EXPECT_GT(play.counts.stalls, 200u);
    EXPECT_LE(play.client_stalls, 12u);  // a few for each stop, and none of the hundreds that follow
}

/// A stop can cover both the deadline of a frame and its arrival, which the loop may then see first.
TEST(PlayerBlames, AClockThatWaitsDropsNothingWhereverItsLoopStops) {
    for (std::int64_t at_ms = 3'000; at_ms < 3'042; ++at_ms) {
        for (const std::int64_t stop_ms : {20, 60, 300}) {
            Play play;
            play.options.on_miss = play::OnMiss::stall;
            play.options.readahead = 2;
            play.stamped_when_seen = true;
            play.reads_take(milliseconds(60));
            play.stalls.push_back({Instant{} + milliseconds(at_ms), Instant{} + milliseconds(at_ms + stop_ms)});
            play.run();
            EXPECT_EQ(play.counts.on_time, 96u) << at_ms << " " << stop_ms;
            EXPECT_EQ(play.counts.stalls, play.client_stalls) << at_ms << " " << stop_ms;
            if (stop_ms > 60) EXPECT_GE(play.counts.stalls, 1u) << at_ms;
        }
    }
}

TEST(PlayerBlames, AnInterruptThatTheLoopSeesTooLateEndsAStallOfThisClient) {
    Play play;
    play.options.on_miss = play::OnMiss::stall;
    play.options.readahead = 2;
    play.stamped_when_seen = true;
    play.reads_take(milliseconds(60));
    play.stalls.push_back({Instant{} + seconds(3), Instant{} + milliseconds(3'300)});
    play.interrupt_at = Instant{} + milliseconds(3'100);
    play.run();
    EXPECT_EQ(play.counts.dropped, 0u);
    EXPECT_EQ(play.counts.stalls, 1u);
    EXPECT_EQ(play.client_stalls, 1u);
}

/// Without the stop it had played: what waits behind it is the client's, however long that takes.
TEST(PlayerBlames, ALongStopBesideAStorageThatIsJustFastEnoughStaysTheClients) {
    Play play;
    play.options.slots = 240;
    play.options.readahead = 4;
    play.options.inflight = 1;
    play.reads_take(milliseconds(38));
    play.stalls.push_back({Instant{} + seconds(3), Instant{} + milliseconds(3'400)});
    play.run();
    EXPECT_GE(play.counts.dropped, 5u);
    for (const FrameOutcome& frame : play.frames) EXPECT_NE(frame.reason, DropReason::late) << frame.slot;
}

TEST(PlayerDecodes, ADecoderThatIsTooSlowIsTheClientsFaultAndDropsOnlyWhatItCannotDo) {
    for (const play::OnMiss policy : kPolicies) {
        Play play;
        play.options.on_miss = policy;
        play.options.slots = 1440;
        play.options.readahead = 8;
        play.decode_cpu = milliseconds(45);  // 41.7 ms a frame are there
        play.run();
        const std::uint64_t bad = play.counts.dropped + play.counts.late + play.counts.stalls;
        EXPECT_GT(bad, 50u);
        for (const FrameOutcome& frame : play.frames) EXPECT_NE(frame.reason, DropReason::late) << frame.slot;
        EXPECT_LT(bad, play.options.drops_late_frames() ? 150u : 1440u) << "7.4 % of the frames";
    }
}

TEST(PlayerClient, AStallOfTheClientBetweenTwoPiecesOfAFrameIsTheClients) {
    Play play;
    play.file_per_frame = false;
    play.frame_bytes = 8192;
    play.options.alignment = 4096;
    play.options.io_size = 4096;
    play.options.io_depth = 1;
    play.options.inflight = 1;
    const Instant starts = Instant{} + milliseconds(5);  // the first piece of a frame takes its time
    const Instant submitted = starts + play.due(19);     // slot 20
    play.stalls = {{submitted + milliseconds(2), submitted + milliseconds(52)}};
    play.reads_take(milliseconds(5)).run();
    ASSERT_EQ(play.play_start, starts);
    EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(20, 20));
    EXPECT_EQ(play.frames[20].completed, submitted + milliseconds(52));
    EXPECT_EQ(play.frames[20].reason, DropReason::client);
}

/// The clock stands while a jump is decoded, and all that was asked for meanwhile is needed later by that.
TEST(PlayerDecodes, AJumpWaitsForItsDecodingAndDropsNothing) {
    for (const play::OnMiss policy : kPolicies) {
        Play play;
        play.options.on_miss = policy;
        play.options.slots = 480;
        play.order = *play::PlayOrder::parse("scrub");
        play.decode_cpu = milliseconds(5);
        play.run();
        EXPECT_EQ(play.counts.on_time, 480u);
        EXPECT_GT(play.seeks.size(), 3u);
        for (const play::SeekEntry& seek : play.seeks) {
            EXPECT_GE(seek.latency, milliseconds(5)) << seek.slot;
            EXPECT_LE(seek.latency, milliseconds(15)) << seek.slot;
        }
    }
}

TEST(PlayerProgress, ShowsWhatTheLedgerCounts) {
    for (const play::OnMiss on_miss : {play::OnMiss::drop, play::OnMiss::hold}) {
        Play play;
        play.options.on_miss = on_miss;
        play.delay(20, play.due(5)).fail({50, 52, 1}, EIO);
        play.run();
        EXPECT_GT(on_miss == play::OnMiss::drop ? play.counts.dropped : play.counts.late, 0u);
        EXPECT_EQ(play.counts.failed, 3u);
        EXPECT_EQ(play.progress->on_time, play.counts.on_time);
        EXPECT_EQ(play.progress->bad, play.counts.dropped + play.counts.late + play.counts.failed);
        EXPECT_EQ(play.progress->bytes, play.counts.bytes_read);
        EXPECT_EQ(play.progress->due, play.options.slots);
    }
}

}  // namespace
}  // namespace streamsim::test
