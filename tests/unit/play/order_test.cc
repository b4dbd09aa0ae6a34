// Orders as the storage sees them: which files are opened, which bytes are read, when, and what a jump costs.
// In virtual time, against lists written by hand.
#include <gmock/gmock.h>

#include <cstring>

#include "player_fixture.h"

namespace streamsim::test {
namespace {

using Names = std::vector<std::string>;

Names files(const std::vector<int>& frames) {
    Names names;
    for (const int frame : frames) names.push_back(TinyClip::file(static_cast<std::uint64_t>(frame)));
    return names;
}

Play ordered(const char* order, std::uint64_t frames, std::uint64_t slots) {
    Play play;
    play.order = *play::PlayOrder::parse(order);
    play.clip_frames = frames;
    play.options.slots = slots;
    play.options.readahead = 3;
    play.options.pattern = play::AccessPattern::filename_prefetch;
    return play;
}

TEST(Order, OpensFilesInTheOrderOfPlay) {
    const auto opened = [](const char* order, std::uint64_t frames, std::uint64_t slots) {
        Play play = ordered(order, frames, slots);
        play.reads_take(milliseconds(5)).run();
        EXPECT_EQ(play.counts.on_time, slots) << order;
        return play.opened;
    };
    EXPECT_EQ(opened("forward", 4, 9), files({0, 1, 2, 3, 0, 1, 2, 3, 0}));
    EXPECT_EQ(opened("reverse", 4, 9), files({3, 2, 1, 0, 3, 2, 1, 0, 3}));
    EXPECT_EQ(opened("ping-pong", 4, 9), files({0, 1, 2, 3, 2, 1, 0, 1, 2}));
    EXPECT_EQ(opened("shuttle:3", 8, 6), files({0, 3, 6, 1, 4, 7}));
    EXPECT_EQ(opened("shuttle:-2", 6, 4), files({5, 3, 1, 5}));
}

TEST(Order, AContainerIsOpenedOnceAndReadFrameByFrameUnlessItIsReadFrontToBack) {
    Play play = ordered("reverse", 4, 6);
    play.file_per_frame = false;
    play.options.pattern = play::AccessPattern::streaming;
    play.options.io_size = 1 << 20;
    play.run();
    EXPECT_EQ(play.log, (Names{"open clip.mov", "read 3000+1000", "read 2000+1000", "read 1000+1000",
                               "read 0+1000", "read 3000+1000", "read 2000+1000"}));
}

TEST(Order, ShuttleReadsEveryNthFrameInRealTime) {
    Play play = ordered("shuttle:8", 96, 24);
    play.reads_take(milliseconds(5)).run();
    EXPECT_EQ(play.counts.bytes_read, 24'000u);
    EXPECT_EQ(play.frames[23].clip_frame, 23u * 8 % 96);
    EXPECT_EQ(play.frames[23].deadline - play.play_start, play.due(23));
}

/// Jumps at slots that are known.
class JumpPath final : public play::PlayPath {
public:
    JumpPath(std::vector<std::uint64_t> jumps, bool files)
        : PlayPath({std::make_shared<TinyClip>(1000, files)}, {24, 1}), jumps_(std::move(jumps)) {}
    void shown(std::uint64_t slot, std::vector<play::ShownFrame>& into) const override {
        std::uint64_t frame = slot;
        for (const std::uint64_t jump : jumps_) {
            if (slot >= jump) frame = jump * 10 + slot - jump;
        }
        into.assign(1, {0, frame});
    }
    bool sought(std::uint64_t slot) const override {
        return std::find(jumps_.begin(), jumps_.end(), slot) != jumps_.end();
    }
    std::uint64_t pass_slots() const override { return 1000; }

private:
    std::vector<std::uint64_t> jumps_;
};

Play jumping(std::vector<std::uint64_t> jumps, std::uint64_t slots) {
    Play play;
    play.path = std::make_shared<JumpPath>(std::move(jumps), true);
    play.options.slots = slots;
    play.options.readahead = 4;
    return play;
}

TEST(Seek, IsAskedForWhenItIsMadeAndItsLatencyIsNotADrop) {
    Play play = jumping({10}, 20);
    play.reads_take(milliseconds(15)).run();
    EXPECT_EQ(play.counts.on_time, 20u);
    EXPECT_EQ(play.counts.stalls, 0u);
    ASSERT_EQ(play.seeks.size(), 1u);
    EXPECT_EQ(play.seeks[0].slot, 10u);
    EXPECT_EQ(play.seeks[0].clip_frame, 100u);
    EXPECT_EQ(play.seeks[0].requested, play.play_start + play.due(10));
    EXPECT_EQ(play.seeks[0].latency, milliseconds(15));
    EXPECT_EQ(play.frames[10].submitted, play.play_start + play.due(10)) << "nobody knew of it before";
    EXPECT_EQ(play.frames[10].scheduled, play.play_start + play.due(10));
    EXPECT_EQ(play.frames[11].scheduled, play.play_start + play.due(10));
    EXPECT_EQ(play.frames[10].deadline, play.play_start + play.due(10) + milliseconds(15));
    EXPECT_EQ(play.frames[11].deadline, play.play_start + play.due(11) + milliseconds(15))
        << "the clock has waited";
    EXPECT_EQ(play.frames[9].submitted, play.play_start + play.due(5)) << "what is before it is read ahead";
    EXPECT_GT(play.summary.margin_ns->min, 0) << "the frame that was waited for says nothing of margins";
}

TEST(Seek, FramesAfterItHaveDeadlinesAndCanBeDropped) {
    Play play = jumping({10}, 20);
    play.options.inflight = 1;
    play.reads_take(milliseconds(5)).delay(12, milliseconds(100)).run();
    // Slot 12 is begun 10 ms after the request and takes 105 ms; it is due 5 ms + 2 periods after the request.
    EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(12, 12));
}

TEST(Seek, ThatFailsIsAFailedFrameAndPlayGoesOn) {
    Play play = jumping({10}, 20);
    play.reads_take(milliseconds(5)).fail({10, 10, 1}, EIO).run();
    EXPECT_EQ(play.slots_that_were(FrameKind::failed), range(10, 10));
    EXPECT_EQ(play.counts.on_time, 19u);
    ASSERT_EQ(play.seeks.size(), 1u);
    EXPECT_TRUE(play.seeks[0].failed);
    EXPECT_FALSE(play.summary.seek_ns.has_value()) << "a failure has no latency";
}

TEST(Seek, HoldsUnderEveryPolicyAndWithJumpsInTheFirstWindowAndAtTheEnd) {
    for (const play::OnMiss on_miss : kPolicies) {
        Play play = jumping({2, 3, 4, 19}, 20);
        play.options.on_miss = on_miss;
        play.reads_take(milliseconds(7)).run();
        EXPECT_EQ(play.counts.on_time, 20u);
        EXPECT_EQ(play.counts.stalls, 0u);
        EXPECT_EQ(play.counts.seeks, 4u);
        EXPECT_EQ(play.summary.seek_ns->max, 7'000'000);
        EXPECT_EQ(play.frames[19].deadline, play.play_start + play.due(19) + milliseconds(28));
    }
}

/// Slots 8 and 9 are in flight when the jump is made, or 6 and 7, behind which 8 and 9 wait: their time is
/// over.
TEST(Seek, IsReadFirstWhenAnInFlightSlotIsFreeAgain) {
    for (const play::OnMiss on_miss : {play::OnMiss::drop, play::OnMiss::skip}) {
        for (const std::uint64_t slow : {8u, 6u}) {
            Play play = jumping({10}, 20);
            play.options.on_miss = on_miss;
            play.options.inflight = 2;
            play.reads_take(milliseconds(15)).delay(slow, milliseconds(400)).delay(slow + 1, milliseconds(400));
            play.run();
            ASSERT_EQ(play.seeks.size(), 1u);
            EXPECT_EQ(play.frames[10].kind, FrameKind::on_time);
            EXPECT_EQ(play.frames[10].submitted, play.frames[slow].completed) << slow;
            EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(slow, 9));
        }
    }
}

/// The clock waits for the jump at slot 10 while slot 9 is late: only later deadlines move.
TEST(Seek, DoesNotMoveTheDeadlineOfAFrameThatIsLateAlready) {
    for (const play::OnMiss on_miss : {play::OnMiss::drop, play::OnMiss::skip, play::OnMiss::hold}) {
        Play play = jumping({10}, 20);
        play.options.on_miss = on_miss;
        play.options.inflight = 2;
        play.reads_take(milliseconds(5)).delay(9, seconds(1)).delay(10, milliseconds(295)).run();
        ASSERT_EQ(play.seeks.size(), 1u);
        EXPECT_EQ(play.seeks[0].latency, milliseconds(300));
        EXPECT_NE(play.frames[9].kind, FrameKind::on_time);
        EXPECT_EQ(play.frames[9].deadline, play.play_start + play.due(9));
        EXPECT_EQ(play.frames[11].deadline, play.play_start + play.due(11) + milliseconds(300));
    }
}

/// Two frames end at one instant, with which the clock goes on: the frames that are passed over then had no
/// chance.
TEST(Seek, NeverBlamesAClientThatIsNeverLate) {
    for (std::uint32_t inflight = 1; inflight <= 4; ++inflight) {
        for (std::int64_t ms = 5; ms < 400; ms += 6) {
            Play play = jumping({10, 30, 31}, 60);
            play.options.on_miss = play::OnMiss::skip;
            play.options.readahead = 8;
            play.options.inflight = inflight;
            play.reads_take(milliseconds(ms)).run();
            for (const FrameOutcome& frame : play.frames) {
                EXPECT_NE(frame.reason, DropReason::client)
                    << "slot " << frame.slot << ", " << inflight << " reads of " << ms << " ms";
            }
        }
    }
}

TEST(Seek, InterruptedWhileItWaitsCancelsItsFrame) {
    for (const play::OnMiss on_miss : kPolicies) {
        Play play = jumping({10}, 20);
        play.options.on_miss = on_miss;
        play.reads_take(milliseconds(5)).delay(10, seconds(1));
        play.interrupt_at = Instant{} + milliseconds(700);
        play.run();
        EXPECT_EQ(play.counts.on_time, 13u) << "the ten before it, and the three behind it that were there";
        EXPECT_EQ(play.slots_that_were(FrameKind::cancelled), range(10, 10));
        EXPECT_EQ(play.counts.stalls, 0u);
    }
}

/// Two streams on one clock. One jumps at slot 48, at 2 s, and the frame of the jump takes a second; the other
/// begins to read slot 55 at the deadline before, and that takes 800 ms. Or both jump, by `plan`.
struct OnOneClock {
    struct Stream {
        JumpPath path;
        play::DeadlineLedger ledger;
        StreamProgress progress;
        std::vector<std::byte> memory;
        play::Player player;

        Stream(OnOneClock& play, std::uint32_t number, std::vector<std::uint64_t> jumps)
            : path(std::move(jumps), true),
              ledger({.stream = number,
                      .slots = play.options.slots,
                      .drops_kept = 8,
                      .readahead = play.options.readahead},
                     play.series),
              memory(play::Player::memory_bytes(path, play.options)),
              player({play.loop, play.storage, path, play.numbered(number), ledger, progress,
                      Callback::of<&OnOneClock::changed>(&play)},
                     memory) {}
        void end() { player.interrupt(); }
    };

    StalledLoop loop;
    storage::FaultStorage storage;
    play::PlayClock clock{loop};
    play::PlayerOptions options;
    metrics::TimeSeries series;
    std::unique_ptr<Stream> reader, jumper;
    bool playing = false, ending = false;

    explicit OnOneClock(play::OnMiss on_miss,
                        storage::FaultPlan plan = delays(55, milliseconds(800), seconds(1)),
                        std::vector<std::uint64_t> jumps_of_reader = {})
        : storage(loop, std::make_unique<storage::NullStorage>(loop, "sim"), plan, 1, 64) {
        options.slots = 96;
        options.readahead = 8;
        options.inflight = 2;
        options.on_miss = on_miss;
        options.clock = &clock;
        reader = std::make_unique<Stream>(*this, 0, std::move(jumps_of_reader));
        jumper = std::make_unique<Stream>(*this, 1, std::vector<std::uint64_t>{48});
    }

    static storage::FaultPlan delays(std::uint64_t slot_of_reader, Duration of_reader, Duration of_jumper) {
        storage::FaultPlan plan;
        for (const std::uint32_t stream : {0u, 1u}) {
            storage::FaultRule& rule = plan.rules.emplace_back();
            rule.operation = storage::FaultRule::Operation::read;
            rule.stream = stream;
            const std::uint64_t slot = stream == 0 ? slot_of_reader : 48;
            rule.slots = {slot, slot, 1};
            rule.delay = stream == 0 ? of_reader : of_jumper;
        }
        return plan;
    }
    play::PlayerOptions numbered(std::uint32_t number) const {
        play::PlayerOptions own = options;
        own.stream = number;
        return own;
    }

    void changed() {
        if (!playing && reader->player.ready() && jumper->player.ready()) {
            playing = true;
            reader->player.play(loop.now(), loop.now());
            jumper->player.play(loop.now(), loop.now());
        } else if (reader->player.finished() && jumper->player.finished() && !std::exchange(ending, true)) {
            storage.shutdown(Callback::of<&EventLoop::stop>(&loop));
        }
    }
    /// The reader ends at `end`, and `both` do.
    void run(Instant end, bool both) {
        reader->player.preroll();
        jumper->player.preroll();
        loop.at(end, Callback::of<&StalledLoop::tick>(&loop));
        loop.at(end, Callback::of<&Stream::end>(reader.get()));
        if (both) loop.at(end, Callback::of<&Stream::end>(jumper.get()));
        ASSERT_EQ(loop.run(), StopReason::stopped);
        reader->ledger.close();
        jumper->ledger.close();
    }
};

/// The read of slot 55 is in flight, or ends during the wait: the clock has not reached its deadline.
TEST(OneClock, AnEndWhileItStandsForAnotherStreamMissesNoFrame) {
    for (const play::OnMiss on_miss : kPolicies) {
        for (const bool both : {false, true}) {
            for (const std::int64_t ms : {500, 900}) {
                OnOneClock play(on_miss);
                play.run(Instant{} + seconds(2) + milliseconds(ms), both);
                const FrameCounts& counts = play.reader->ledger.counts();
                EXPECT_EQ(counts.cancelled, ms == 500 ? 1u : 0u);
                EXPECT_EQ(counts.on_time, counts.scheduled - counts.cancelled);
                EXPECT_EQ(counts.stalls, 0u);
                const FrameCounts& jumped = play.jumper->ledger.counts();
                EXPECT_EQ(jumped.cancelled, both ? 1u : 0u);
                EXPECT_EQ(jumped.on_time, jumped.scheduled - jumped.cancelled);
            }
        }
    }
}

TEST(OneClock, JumpsAtOneInstantAreRequestedTogether) {
    for (const play::OnMiss on_miss : kPolicies) {
        OnOneClock play(on_miss, OnOneClock::delays(48, milliseconds(10), milliseconds(30)), {48});
        play.run(Instant{} + seconds(10), true);
        for (const auto* stream : {play.reader.get(), play.jumper.get()}) {
            ASSERT_EQ(stream->ledger.seeks().size(), 1u);
            EXPECT_EQ(stream->ledger.seeks()[0].requested, Instant{} + seconds(2));
            EXPECT_EQ(stream->ledger.seeks()[0].latency, milliseconds(stream == play.reader.get() ? 10 : 30));
            EXPECT_EQ(stream->ledger.counts().on_time, 96u);
            EXPECT_EQ(stream->ledger.counts().stalls, 0u);
        }
        EXPECT_EQ(play.clock.shift(), milliseconds(30));
    }
}

TEST(Layers, ASlotIsCompleteWhenAllOfItsLayersAre) {
    Play play;
    play.path = play::make_path({std::make_shared<TinyClip>(50, true), std::make_shared<TinyClip>(50, true)},
                                {}, std::nullopt, 1);
    play.options.slots = 10;
    play.options.pattern = play::AccessPattern::on_demand;
    play.reads_take(milliseconds(5)).run();
    EXPECT_EQ(play.counts.on_time, 10u);
    EXPECT_EQ(play.counts.bytes_read, 20'000u);
    EXPECT_EQ(play.opened.size(), 20u);
    EXPECT_EQ(Names(play.opened.begin(), play.opened.begin() + 4), files({0, 0, 1, 1}));
}

/// Groups of four frames in one file, with a chunk of audio behind every second frame. Frames have 1000 bytes
/// and stand at 2000 x n; the audio of frame n has 500 at 2000 x n + 1000.
class GroupClip final : public FrameIndex {
public:
    explicit GroupClip(std::uint64_t group, bool audio, std::uint64_t frames = 16)
        : group_(group), audio_(audio), count_(frames) {
        for (std::uint64_t i = 0; i < count_; i += 2) chunks_.push_back({2000 * i + 1000, 500});
    }
    std::uint64_t count() const override { return count_; }
    FrameRate rate() const override { return {24, 1}; }
    bool file_per_frame() const override { return false; }
    void write_path(std::uint64_t, char* into) const override { *into = '\0'; }
    std::size_t path_capacity() const override { return 1; }
    Extent extent(std::uint64_t frame) const override { return {frame * 2000, 1000}; }
    std::uint64_t largest_frame_bytes() const override { return 1000; }
    std::uint64_t sync_frame(std::uint64_t frame) const override { return frame / group_ * group_; }
    std::span<const Extent> audio(std::uint64_t frame) const override {
        if (!audio_ || frame % 2 == 1) return {};
        return {&chunks_[frame / 2], 1};
    }
    std::uint64_t largest_audio_bytes() const override { return audio_ ? 500 : 0; }

private:
    std::uint64_t group_;
    bool audio_;
    std::uint64_t count_;
    std::vector<Extent> chunks_;
};

/// The extents that each slot reads, as "offset+bytes offset+bytes".
Names reads_of(const play::PlayPath& path, std::uint64_t slots) {
    play::SlotReads reads(path);
    std::vector<play::SlotExtent> extents;
    Names out;
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        reads.plan(slot, extents);
        std::string text;
        for (const play::SlotExtent& each : extents) {
            if (!text.empty()) text.append(" ");
            text.append(std::to_string(each.extent.offset)).append("+");
            text.append(std::to_string(each.extent.bytes));
        }
        out.push_back(text);
    }
    return out;
}

std::shared_ptr<const play::PlayPath> grouped(const char* order, bool audio, std::uint64_t group = 4) {
    return make_path({std::make_shared<GroupClip>(group, audio)}, *play::PlayOrder::parse(order), std::nullopt,
                     1);
}

TEST(SlotReads, ALongGroupIsReadOnceForwardsAndAtItsEndBackwards) {
    EXPECT_EQ(reads_of(*grouped("forward", false), 6),
              (Names{"0+1000", "2000+1000", "4000+1000", "6000+1000", "8000+1000", "10000+1000"}));
    EXPECT_EQ(reads_of(*grouped("reverse", false), 6),
              (Names{"24000+1000 26000+1000 28000+1000 30000+1000", "", "", "",
                     "16000+1000 18000+1000 20000+1000 22000+1000", ""}));
    EXPECT_EQ(reads_of(*grouped("shuttle:3", false), 4),
              (Names{"0+1000", "2000+1000 4000+1000 6000+1000", "8000+1000 10000+1000 12000+1000",
                     "16000+1000 18000+1000"}));
}

TEST(SlotReads, TheNeedsOfASlotAreThoseOfItsLongestGroup) {
    const play::SlotNeeds alone = slot_needs(*grouped("forward", false, 1));
    EXPECT_FALSE(alone.groups);
    EXPECT_EQ(alone.whole_bytes, 1000u);
    const play::SlotNeeds needs = slot_needs(*grouped("forward", false, 7));
    EXPECT_TRUE(needs.groups);
    EXPECT_EQ(needs.whole_bytes, 7'000u);
    EXPECT_EQ(needs.extents, 7u);
}

TEST(SlotReads, EachPassReadsEverythingAnew) {
    const auto whole = grouped("forward", false, 16);  // one group is the whole clip
    const Names reads = reads_of(*whole, 32);
    EXPECT_EQ(Names(reads.begin(), reads.begin() + 16), Names(reads.begin() + 16, reads.end()));
    const auto alone = grouped("forward", true, 1);
    const Names with_audio = reads_of(*alone, 32);
    EXPECT_EQ(Names(with_audio.begin(), with_audio.begin() + 16),
              Names(with_audio.begin() + 16, with_audio.end()));
    const auto two_frames = play::make_path({std::make_shared<GroupClip>(2, true, 2)}, {}, std::nullopt, 1);
    EXPECT_EQ(reads_of(*two_frames, 4),
              (Names{"0+1000 1000+500", "2000+1000", "0+1000 1000+500", "2000+1000"}));
    const Names backwards = reads_of(*grouped("reverse", false, 16), 32);
    EXPECT_EQ(backwards[16], backwards[0]);
}

TEST(SlotReads, AnEventThatGoesBackOneFrameToAGroupsFirstReadsItAnew) {
    CutList list;
    list.rate = {24, 1};
    list.clips.resize(1);
    list.clips[0].index = std::make_shared<GroupClip>(4, true);
    list.frames = 6;
    list.segments = {{0, 2, 0, 4, 1, 1, ""}, {2, 2, 0, 4, 1, 1, ""}, {4, 2, 0, 6, 1, 1, ""}};
    EXPECT_EQ(reads_of(*play::make_cut_path(list, std::nullopt), 6),
              (Names{"8000+1000 9000+500", "10000+1000", "8000+1000 9000+500", "10000+1000",
                     "12000+1000 13000+500", "14000+1000"}));
}

TEST(SlotReads, AudioIsReadWithTheFrameItBeginsWithAndAfterAJumpWithTheOneItReachesInto) {
    EXPECT_EQ(reads_of(*grouped("forward", true, 1), 4),
              (Names{"0+1000 1000+500", "2000+1000", "4000+1000 5000+500", "6000+1000"}));
    EXPECT_EQ(reads_of(*grouped("reverse", true, 1), 4),
              (Names{"29000+500 30000+1000", "28000+1000", "25000+500 26000+1000", "24000+1000"}));
    EXPECT_EQ(reads_of(*grouped("shuttle:5", true, 1), 3),
              (Names{"0+1000 1000+500", "9000+500 10000+1000", "20000+1000 21000+500"}));
}

TEST(SlotReads, ASlotThatWasPassedOverLeavesItsFramesToTheNextOfTheGroup) {
    const auto path = grouped("forward", false);
    play::SlotReads reads(*path);
    std::vector<play::SlotExtent> extents;
    reads.plan(0, extents);
    reads.plan(3, extents);  // 1 and 2 were passed over
    EXPECT_EQ(extents.size(), 3u);
    reads.plan(6, extents);  // 4 and 5 were
    EXPECT_EQ(extents.size(), 3u);
    EXPECT_EQ(extents.front().frame, 4u);
}

/// The images of slots 5 and 6 are opened when slot 4 is late, and both slots are passed over.
TEST(SlotReads, ASlotThatWasPassedOverBesideAnImageLeavesItsFramesToTheNextOfTheGroup) {
    Play play;
    play.path = play::make_path({std::make_shared<TinyClip>(16, true), std::make_shared<GroupClip>(4, false)},
                                {}, std::nullopt, 1);
    play.options.slots = 16;
    play.options.readahead = 4;
    play.options.inflight = 1;
    play.options.pattern = play::AccessPattern::filename_prefetch;
    play.delay(4, milliseconds(260)).run();
    EXPECT_EQ(play.slots_that_were(FrameKind::dropped), range(4, 6));
    EXPECT_EQ(play.opened.size(), 16u + 1) << "those of slots 5 and 6 too";
    for (int frame = 0; frame < 16; ++frame) {
        const std::string read = "read " + std::to_string(frame * 2000) + "+1000";
        const std::ptrdiff_t images = frame == 0 ? 14 : 0;
        EXPECT_EQ(std::count(play.log.begin(), play.log.end(), read), 1 + images) << frame;
    }
    EXPECT_EQ(play.frames[7].bytes, 4000u) << "its image, and frames 5 to 7";
    EXPECT_EQ(play.counts.on_time, 13u);
}

TEST(SlotReads, AGroupLongerThanTheBufferIsReadThroughIt) {
    Play play;
    play.path = grouped("reverse", true);
    play.options.slots = 16;
    play.options.io_size = 512;
    play.options.io_depth = 1;
    play.options.readahead = 4;
    play.reads_take(milliseconds(1)).run();
    EXPECT_EQ(play.counts.on_time, 16u);
    EXPECT_EQ(play.counts.bytes_read, 16'000u + 8 * 500);
}

CutList twelve_clips_and_200_events() {
    CutList list;
    list.rate = {24, 1};
    for (int i = 0; i < 12; ++i) {
        Clip clip;
        clip.index = std::make_shared<TinyClip>(240, true);
        list.clips.push_back(clip);
    }
    for (std::uint32_t i = 0; i < 200; ++i) {
        const std::uint64_t frames = 5 + i % 7;
        list.segments.push_back({list.frames, frames, i * 5 % 12, static_cast<std::int64_t>(i), 1, 1, ""});
        list.frames += frames;
    }
    return list;
}

TEST(Cuts, Of200EventsOver12ClipsPlayToTheFrameWithTheReadAheadCrossingEachCut) {
    const CutList list = twelve_clips_and_200_events();
    Play play;
    play.path = play::make_cut_path(list, std::nullopt);
    play.options.slots = list.frames;
    play.options.readahead = 8;
    play.options.inflight = 2;
    play.reads_take(milliseconds(60))
        .run();  // longer than a period: without read-ahead no frame would be there
    EXPECT_EQ(play.counts.on_time, list.frames);
    EXPECT_EQ(play.counts.seeks, 0u);
    std::size_t slot = 0;
    for (const CutSegment& segment : list.segments) {
        EXPECT_GT(play.frames[segment.at].deadline, play.frames[segment.at].completed);
        for (std::uint64_t i = 0; i < segment.frames; ++i, ++slot) {
            ASSERT_EQ(play.frames[slot].source, segment.clip);
            ASSERT_EQ(play.frames[slot].clip_frame, static_cast<std::uint64_t>(segment.first) + i);
            ASSERT_EQ(play.opened[slot], TinyClip::file(play.frames[slot].clip_frame));
        }
    }
    EXPECT_EQ(slot, play.frames.size());
}

TEST(Cuts, ContainersAreOpenedWhenTheWindowReachesThemAndBlackNeedsNothing) {
    CutList list;
    list.rate = {24, 1};
    for (int i = 0; i < 2; ++i) {
        Clip clip;
        clip.index = std::make_shared<TinyClip>(50, false);
        list.clips.push_back(clip);
    }
    list.frames = 12;
    list.segments = {{0, 4, 0, 7, 1, 1, ""}, {8, 4, 1, 30, 1, 1, ""}};
    Play play;
    play.path = play::make_cut_path(list, std::nullopt);
    play.options.slots = 12;
    play.options.readahead = 2;
    play.reads_take(milliseconds(5)).run();
    EXPECT_EQ(play.counts.on_time, 12u);
    EXPECT_EQ(play.counts.bytes_read, 8'000u);
    EXPECT_EQ(play.log, (Names{"open clip.mov", "read 7000+1000", "read 8000+1000", "read 9000+1000",
                               "read 10000+1000", "open clip.mov", "read 30000+1000", "read 31000+1000",
                               "read 32000+1000", "read 33000+1000"}));
}

class OtherClip final : public TinyClip {
public:
    using TinyClip::TinyClip;
    void write_path(std::uint64_t /*frame*/, char* into) const override { std::strcpy(into, "other.mov"); }
};

TEST(Cuts, FramesBeforeACutAreReadOnWhileTheNextClipIsOpened) {
    CutList list;
    list.rate = {24, 1};
    list.clips.resize(2);
    list.clips[0].index = std::make_shared<TinyClip>(50, false);
    list.clips[1].index = std::make_shared<OtherClip>(50, false);
    list.frames = 40;
    list.segments = {{0, 20, 0, 0, 1, 1, ""}, {20, 20, 1, 0, 1, 1, ""}};
    Play play;
    play.path = play::make_cut_path(list, std::nullopt);
    play.options.slots = 40;
    play.options.readahead = 8;
    play.options.inflight = 1;
    storage::FaultRule slow_open;
    slow_open.operation = storage::FaultRule::Operation::open;
    slow_open.file = "other.mov";
    slow_open.delay = milliseconds(150);
    play.faults.rules.push_back(slow_open);
    play.reads_take(milliseconds(40)).delay(15, milliseconds(120)).run();
    EXPECT_EQ(play.counts.on_time, 40u);
    // Slot 20 enters, and the next clip's open begins, at D(12), 208 ms after slot 15 was submitted; then 17 is
    // read.
    const Instant submitted = play.play_start + play.due(7);
    EXPECT_EQ(play.frames[18].completed, submitted + milliseconds(160 + 3 * 40));
    EXPECT_EQ(play.frames[20].completed, play.play_start + play.due(12) + milliseconds(150 + 40));
}

/// Frames before a jump keep their deadlines where play ends while the clock waits for the frame of the jump.
TEST(Seek, OfAPlayThatEndsMeanwhileMovesNoDeadlineBeforeIt) {
    Play play = jumping({10}, 40);
    play.options.on_miss = play::OnMiss::hold;
    play.options.readahead = 2;
    play.options.inflight = 1;
    play.interrupt_at = Instant{} + play.due(10) + milliseconds(700);
    play.delay(3, seconds(3600)).run();
    EXPECT_EQ(play.slots_that_were(FrameKind::late), range(3, 9));
    for (const std::uint64_t slot : range(3, 9))
        EXPECT_EQ(play.frames[slot].deadline, Instant{} + play.due(slot)) << slot;
}

}  // namespace
}  // namespace streamsim::test
