// A player in virtual time on a storage whose delays are known to the nanosecond.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "loop/decoders.h"
#include "play/player.h"
#include "recording_storage.h"
#include "stalled_loop.h"
#include "storage/fault/fault_storage.h"
#include "storage/null_storage.h"

namespace streamsim::test {

inline constexpr play::OnMiss kPolicies[] = {play::OnMiss::drop, play::OnMiss::skip, play::OnMiss::hold,
                                             play::OnMiss::stall};

/// Frames of 1000 bytes: a file each, or back to back in one file. With the content of frames some of them
/// differ, at their byte 3.
class TinyClip : public FrameIndex, private FrameContent {
public:
    TinyClip(std::uint64_t frames,
             bool file_per_frame,
             FrameRate rate = {24, 1},
             std::uint64_t frame_bytes = 1000)
        : frames_(frames), files_(file_per_frame), rate_(rate), frame_bytes_(frame_bytes) {}
    static std::string file(std::uint64_t frame) {
        return std::string("f.").append(std::to_string(frame)).append(".dpx");
    }
    std::uint64_t count() const override { return frames_; }
    FrameRate rate() const override { return rate_; }
    bool file_per_frame() const override { return files_; }
    void write_path(std::uint64_t frame, char* into) const override {
        const std::string name = files_ ? file(frame) : "clip.mov";
        name.copy(into, name.size());
        into[name.size()] = '\0';
    }
    std::size_t path_capacity() const override { return 40; }
    Extent extent(std::uint64_t frame) const override {
        return {files_ ? 0 : frame * frame_bytes_, frame_bytes_};
    }
    std::uint64_t largest_frame_bytes() const override { return frame_bytes_; }
    const FrameContent* content() const override { return corrupt_ ? this : nullptr; }
    void set_corrupt(std::set<std::uint64_t> frames) { corrupt_ = std::move(frames); }

private:
    std::optional<std::uint64_t> first_difference(std::uint64_t frame,
                                                  std::span<const ContentPiece> pieces) const override {
        const auto [offset, bytes] = extent(frame);
        std::uint64_t at = offset;
        for (const ContentPiece& piece : pieces) {
            EXPECT_EQ(piece.offset, at) << "the pieces of frame " << frame << " have a gap, or an overlap";
            at += piece.bytes.size();
        }
        EXPECT_EQ(at, offset + bytes) << frame;
        return corrupt_->contains(frame) ? std::optional(offset + 3) : std::nullopt;
    }

    std::optional<std::set<std::uint64_t>> corrupt_;
    std::uint64_t frames_;
    bool files_;
    FrameRate rate_;
    std::uint64_t frame_bytes_;
};

/// Checks frames in a fixed time each, all at once.
class TimedVerifier final : public Verifier {
public:
    TimedVerifier(EventLoop& loop, Duration takes) : loop_(loop), takes_(takes) {}
    void verify(VerifyOp& op) override {
        queue_.push_back(&op);
        loop_.at(loop_.now() + takes_, Callback::of<&TimedVerifier::finished>(this));
    }

private:
    void finished() {
        VerifyOp& op = *queue_.front();
        queue_.pop_front();
        std::size_t begin = 0;
        for (const VerifyOp::Frame& frame : op.frames) {
            const auto pieces = std::span(op.pieces).subspan(begin, frame.pieces_end - begin);
            begin = frame.pieces_end;
            const auto offset = frame.content->first_difference(frame.frame, pieces);
            if (offset && !op.difference) op.difference = {frame.source, frame.frame, *offset};
        }
        op.done();
    }

    EventLoop& loop_;
    const Duration takes_;
    std::deque<VerifyOp*> queue_;
};

struct Play {
    play::PlayerOptions options;
    FrameRate rate{24, 1};
    play::PlayOrder order;
    std::shared_ptr<const play::PlayPath> path;  // none: one TinyClip in `order`
    storage::FaultPlan faults;
    std::uint64_t clip_frames = 48;
    bool file_per_frame = true;
    std::uint64_t frame_bytes = 1000;
    std::optional<Instant> interrupt_at;
    std::optional<Instant> look_at;  // while it plays
    std::function<void(play::Player&, play::DeadlineLedger&)> look;
    Duration decode_cpu;
    Duration verify_takes;            // with options.verify
    std::set<std::uint64_t> corrupt;  // with options.verify: frames of the TinyClip that differ
    std::vector<LoopStall> stalls;    // of the client
    bool stamped_when_seen = false;   // reads: see RecordingStorage

    // The outcome of run().
    std::vector<FrameOutcome> frames;
    std::vector<play::SeekEntry> seeks;
    std::vector<std::string> log;     // of the storage: see RecordingStorage
    std::vector<std::string> opened;  // names
    std::uint64_t closed = 0;         // files
    FrameCounts counts;
    std::uint64_t client_stalls = 0;
    StreamResult summary;
    metrics::Digest digest;
    std::unique_ptr<StreamProgress> progress = std::make_unique<StreamProgress>();
    Instant play_start;
    Instant ended;

    Play() {
        options.slots = 96;
        options.readahead = 1;
        options.inflight = 2;
    }

    /// Every read takes `time`.
    Play& reads_take(Duration time) {
        storage::FaultRule rule;
        rule.operation = storage::FaultRule::Operation::read;
        rule.delay = time;
        faults.rules.push_back(rule);
        return *this;
    }
    /// The read of one slot takes `time` more.
    Play& delay(std::uint64_t slot, Duration time) {
        storage::FaultRule rule;
        rule.operation = storage::FaultRule::Operation::read;
        rule.slots = {slot, slot, 1};
        rule.delay = time;
        faults.rules.push_back(rule);
        return *this;
    }
    Play& fail(storage::FaultSelection slots, int error) {
        storage::FaultRule rule;
        rule.slots = slots;
        rule.operation = storage::FaultRule::Operation::read;
        rule.error = error;
        faults.rules.push_back(rule);
        return *this;
    }

    void run();
    std::vector<std::uint64_t> slots_that_were(FrameKind kind) const {
        std::vector<std::uint64_t> slots;
        for (const FrameOutcome& frame : frames) {
            if (frame.kind == kind) slots.push_back(frame.slot);
        }
        return slots;
    }
    Duration due(std::uint64_t slot) const { return rate.due(slot); }
};

/// `first` to `last`, both in.
inline std::vector<std::uint64_t> range(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = first; i <= last; ++i) out.push_back(i);
    return out;
}

inline void Play::run() {
    StalledLoop loop;
    loop.stalls = stalls;
    storage::FaultStorage faulty(loop, std::make_unique<storage::NullStorage>(loop, "sim"), faults, 1, 64);
    RecordingStorage storage(faulty);
    if (stamped_when_seen) storage.stamped_by = &loop;
    if (path == nullptr) {
        auto clip = std::make_shared<TinyClip>(clip_frames, file_per_frame, rate, frame_bytes);
        if (options.verify) clip->set_corrupt(corrupt);
        path = make_path({std::move(clip)}, order, std::nullopt, 1);
    }
    metrics::TimeSeries series;
    play::LedgerOptions stats;
    stats.slots = options.slots;
    stats.drops_kept = options.slots;
    stats.readahead = options.readahead;
    stats.keep_frames = true;
    play::DeadlineLedger ledger(stats, series);
    std::vector<std::byte> memory(play::Player::memory_bytes(*path, options));
    loop::TimedDecoder decoder(loop, decode_cpu);
    TimedVerifier verifier(loop, verify_takes);
    play::PlayerOptions with_decoder = options;
    if (decode_cpu > Duration{}) with_decoder.decoder = &decoder;
    if (options.verify) with_decoder.verifier = &verifier;
    struct Conductor {
        const Play& play;
        play::DeadlineLedger& ledger;
        StalledLoop& loop;
        Storage& storage;
        std::unique_ptr<play::Player> player;
        Instant play_start;
        void look() { play.look(*player, ledger); }
        void changed() {
            if (player->ready()) {
                play_start = loop.now();
                player->play(play_start, play_start);
            } else if (player->finished()) {
                storage.shutdown(Callback::of<&EventLoop::stop>(&loop));
            }
        }
        void interrupt() {
            loop.tick();
            player->interrupt();
        }
    } conductor{*this, ledger, loop, storage, nullptr, {}};
    const play::StreamParts parts{
        loop, storage, *path, with_decoder, ledger, *progress, Callback::of<&Conductor::changed>(&conductor)};
    conductor.player = std::make_unique<play::Player>(parts, memory);
    conductor.player->preroll();
    if (interrupt_at) loop.at(*interrupt_at, Callback::of<&Conductor::interrupt>(&conductor));
    if (look_at) loop.at(*look_at, Callback::of<&Conductor::look>(&conductor));
    ASSERT_EQ(loop.run(), StopReason::stopped);
    ledger.close();
    frames = ledger.frames();
    seeks = ledger.seeks();
    log = storage.log;
    opened = storage.opened;
    closed = storage.closed;
    counts = ledger.counts();
    client_stalls = ledger.client_stalls();
    ledger.summarise(summary);
    digest = ledger.timing_digest();
    play_start = conductor.play_start;
    ended = loop.now();
}

}  // namespace streamsim::test
