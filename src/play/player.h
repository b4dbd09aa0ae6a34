// Player: plays one path (a clip in some order) as an NLE does, on one absolute frame clock. It decides when
// each frame is read, and settles every slot in the ledger; it never looks at frame data itself. With a
// verifier a frame is complete when its last byte came, however long the check takes, and has failed if its
// bytes differ.
//
// The clock. Slot i is due at D(i) = play_start + clock shift + path.due(i), for most paths floor(i * den *
// 10^9 / num); the clock shift is always 0 except under OnMiss::stall and after seeks. At D(i) slot i goes on
// display.
//
// The window. R = readahead frames may be buffered or in flight ahead of the one on display. Frame k enters the
// window at D(k - R), the first R at the beginning of preroll; that instant is its *scheduled* time. P =
// min(inflight, R) in-flight slots: a frame's read is submitted when the frame enters, if an in-flight slot is
// free, else as soon as one is, in order.
//
// A frame that is not complete at its deadline:
//   drop   the slot is dropped. Its read, if it has one, is neither cancelled nor replaced: it keeps its buffer
//          and its in-flight slot. The next frame to be read is the first unread one that is not overdue;
//          overdue frames are never read. A slot that is due exactly when an in-flight slot becomes free is not
//          overdue, and is read.
//   skip   as drop, but the next frame to be read is the first unread slot s of the window that is expected to
//          be in time: D(s) >= now + E, where E is the time that three quarters of the last frames took at most
//          (frame_times.h). If no slot of the window is, the newest slot of the window is read, so that a
//          stream never stops measuring and recovers by itself. The slots before it are passed over: they are
//          dropped and never read. No slot is passed over for one that has not entered the window, before play
//          starts, and while the clock stands.
//   hold   no frame is passed over; the slot is late when its frame comes, or when play is interrupted before
//          that; the clock is not shifted.
//   stall  the clock stops at D(i) until the frame is complete (or has failed); `stalled` grows by that time.
// A frame that cannot come is failed, under every policy, and nothing waits for it.
//
// A seek. A slot that could not be foreseen (path.sought) enters the window at its D(i), the request, and those
// behind it not earlier. The clock stands until its frame is complete or has failed; that time is the seek
// latency, which is reported; it is neither a drop nor a stall: the picture before the jump stays on display.
// From then on play goes on with whatever the window has. Streams on one clock that jump at one instant request
// their frames together, and go on when the last of them has come.
//
// The storage's stamps decide. A completion that is stamped at or before D(i) is on time even when its callback
// runs after slot i's timer. A miss is this client's (`client`) and not the storage's in three cases: the
// completion may have come before the deadline, but nobody looked (not_before <= D); the frame would have been
// in time but for its client delay (client_delay.h), its own or that of the frames whose in-flight slots it
// waited for; or the frame was passed over although an in-flight slot may have been free at the last moment at
// which the policy would have read it (drop: its deadline; skip: E before that, or as long as it was the newest
// slot of the window). A loop that could not run while all in-flight slots were taken costs nothing. A delay
// for which play has made up since, by slots that were passed over or by a stalled play clock, does not excuse
// later frames.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "play/frame_read.h"
#include "play/frame_stream.h"
#include "play/frame_times.h"

namespace streamsim::play {

/// A value for each of the slots around the present one: at least `slots` consecutive ones have places of their
/// own.
template <typename T>
class SlotRing {
public:
    explicit SlotRing(std::uint32_t slots) : values_(std::bit_ceil(slots)) {}
    T& operator[](std::uint64_t slot) { return values_[slot & (values_.size() - 1)]; }
    const T& operator[](std::uint64_t slot) const { return values_[slot & (values_.size() - 1)]; }

private:
    std::vector<T> values_;
};

/// Nothing is allocated after the constructor.
class Player final : public FrameStream, private FrameReadOwner {
public:
    /// Bytes of memory that a player needs for its frames: the window and the in-flight slots.
    static std::uint64_t memory_bytes(const PlayPath& path, const PlayerOptions& options);

    /// `memory` has memory_bytes() and belongs to this player.
    Player(const StreamParts& parts, std::span<std::byte> memory);

    /// Fills the window; ready() when min(R, frames) frames are complete or failed.
    void preroll() override;
    void play(Instant play_start, Instant series_zero) override;
    void stop_submitting() override;
    void interrupt() override;
    Instant overdue_since() const override;
    void copy_overdue(DeadlineLedger& copy) override;

private:
    Instant due(std::uint64_t slot) const { return play_start_ + clock_.shift() + path_due(slot); }
    /// The path's due(slot), which is asked for some ten times a slot.
    Duration path_due(std::uint64_t slot) const {
        if (dues_[0].slot == slot) return dues_[0].at;
        if (dues_[1].slot != slot) {
            std::swap(dues_[0], dues_[1]);
            dues_[1] = {slot, steady_ ? rate_.due(slot) : path_.due(slot)};
        }
        return dues_[1].at;
    }
    bool is_sought(std::uint64_t slot) const { return seeks_ && path_.sought(slot); }
    Instant deadline_of(std::uint64_t slot) const {
        return options_.paced ? due(slot) + others_wait_ : Instant::never();
    }
    bool past(std::uint64_t slot) const { return slot < display_; }
    /// The kind of a slot whose frame was not complete at its deadline.
    FrameKind missed_kind() const {
        return options_.on_miss == OnMiss::hold ? FrameKind::late : FrameKind::dropped;
    }

    Instant scheduled_at(std::uint64_t slot) const;
    Instant entry_time(std::uint64_t slot) const;

    void prepare_containers();
    void open_sources(std::uint64_t slot);
    bool sources_open(std::uint64_t slot);
    void take(FrameRead& read, std::uint64_t slot);
    void advance();
    void retry();
    /// Each in-flight slot and each frame of the window has a buffer; only a verifier or a decoder that does
    /// not keep up can hold more. Opens that hang can hold all reads.
    bool can_start(std::uint64_t slot) const {
        return !buffers_.empty() && (slot < ahead_end_ || !idle_.empty());
    }
    void release(FrameRead& read);
    void enter_until(std::uint64_t end);
    void start_reads();
    bool start_next(Instant now);
    void open_ahead();
    FrameRead& idle_read() {
        FrameRead& read = *idle_.back();
        idle_.pop_back();
        return read;
    }
    std::uint64_t next_to_read(Instant now);
    void skip_overdue(Instant now);
    void pass_over_until(std::uint64_t end);
    Instant last_start(std::uint64_t slot);
    void abandon(std::uint64_t slot);
    FrameRead*& ahead(std::uint64_t slot) { return slots_[slot].ahead; }
    FrameRead*& window(std::uint64_t slot) { return slots_[slot].read; }

    void on_timer();
    void on_stall_timer();
    void arm_stall();
    void show_overdue_below(std::uint64_t end);
    void run_clock();
    bool display_next();
    void end_wait(const FrameRead& read);
    void clock_goes_on();
    void absorb_shift(Instant at);
    void absorb(Duration by, Instant at);
    void arm();

    void frame_read_ended(FrameRead& read) override;
    void frame_verified(FrameRead& read) override;
    void frame_decoded(FrameRead& read) override;
    void frame_read_released(FrameRead& read) override {
        idle_.push_back(&read);
        advance();
    }
    void container_opened(SourceFile& file) override;
    void read_ended(FrameRead& read);
    void decode_or_settle(FrameRead& read);
    void read_settled(FrameRead& read);
    void judge(FrameRead& read);
    FrameOutcome unread(std::uint64_t slot, FrameKind kind, DropReason reason) const;
    void settle_unread(std::uint64_t slot, FrameKind kind, DropReason reason) {
        settle(unread(slot, kind, reason));
    }
    DropReason unread_reason(std::uint64_t slot);
    DropReason miss_reason(const FrameRead& read, Instant deadline) const;
    void abandon_ahead(bool cancelled);
    void stop_clock(Instant now);
    void cancel_window(bool played, Instant now);
    bool came_in_time(const FrameRead& read, Instant deadline) const;
    DropReason reason_by(Instant now, const FrameRead& read, Instant deadline) const;
    FrameOutcome open_outcome(const FrameRead& read, bool played, Instant now) const;
    bool stalls(Instant now) const;
    bool stalls_by_client(Instant now) const;
    void check_ready();
    void check_finished();

    struct Slot {
        std::uint64_t entered = UINT64_MAX;  // the slot that entered the window here last
        Instant at;                          // when
        FrameRead* read = nullptr;           // started, not yet on display
        FrameRead* ahead = nullptr;          // taken, not started: slots [next_, ahead_end_)
    };
    struct Due {
        std::uint64_t slot = UINT64_MAX;
        Duration at;
    };

    // Members that each frame touches lie together.
    PlayClock& clock_;
    mutable std::array<Due, 2> dues_;  // of the slot to be displayed and of the one to be read, as a rule
    std::uint64_t display_ = 0;        // the next slot to go on display; those below are past
    std::uint64_t entered_ = 0;        // slots below are in the window or past it
    std::uint64_t next_ = 0;           // the first slot whose read has not been started
    std::uint64_t ahead_end_ = 0;
    std::uint64_t seek_ = UINT64_MAX;  // the last slot that was sought
    std::uint64_t prerolled_ = 0;
    std::uint32_t buffered_ = 0;  // complete frames that are not yet on display
    std::uint32_t opening_ = 0;   // containers
    bool all_wanted_ = false;     // the open of every container was submitted
    bool waiting_ = false;        // for the frame of display_: the clock stands
    const bool seeks_;            // some slots are sought
    const bool opens_files_;      // each slot has files of its own
    const bool steady_;           // as the path says
    const FrameRate rate_;
    Instant went_on_{INT64_MIN};         // the last time at which the clock did, after a wait
    Instant decoder_behind_{INT64_MIN};  // the last time a frame found no buffer because of decoder or verifier
    Duration others_wait_;               // at the end: the time for which clock_ has stood for another stream
    Duration shift_seen_;                // of clock_, as absorb_shift() has taken it into account
    std::uint64_t pass_end_;             // the first slot behind the pass that tail_ was read in
    SlotRing<Slot> slots_;
    std::vector<FrameRead*> idle_;               // a stack
    std::vector<std::span<std::byte>> buffers_;  // free: a read has one from its start until it is settled
    std::vector<SourceFile> containers_;         // by source; the entry of a sequence is unused
    StreamTail tail_;
    SlotReads slot_reads_;
    PlayClock own_clock_;

    std::vector<std::unique_ptr<FrameRead>> reads_;
    std::vector<ShownFrame> shown_;  // scratch
    FrameTimes times_;               // with OnMiss::skip
};

}  // namespace streamsim::play
