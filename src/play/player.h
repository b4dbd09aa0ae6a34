// Player: plays one path (a clip in some order) as an NLE does, on one absolute frame clock. It decides which
// frame is read when, and books what became of every slot; it never looks at frame data.
//
// The clock. Slot i is due at D(i) = play_start + held_up + path.due(i), for most paths floor(i * den * 10^9 /
// num); `held_up` is always 0 except under OnMiss::stall and after seeks. At D(i) slot i goes on display.
//
// The window. R = readahead frames may be buffered or in flight ahead of the one on display. Frame k enters the
// window at D(k - R), the first R at the beginning of preroll; that instant is its *scheduled* time. P =
// min(inflight, R) places: a frame's read is submitted when it enters if a place is free, else as soon as one
// is, in order.
//
// A frame that is not complete at its deadline:
//   drop   the slot is dropped. Its read, if it has one, is neither cancelled nor replaced: it keeps its buffer
//          and its in-flight slot.
//          The next frame to be read is the first unread one that is not overdue; those passed over are never
//          read. A slot that is due exactly when an in-flight slot becomes free is not overdue, and is read.
//   hold   none is passed over; the slot is late when its frame comes, the clock is not shifted.
//   stall  the clock stops at D(i) until the frame is complete (or has failed); `stalled` grows by that time.
// A frame that cannot come is failed, under every policy, and nothing waits for it.
//
// A seek. A slot that nobody knew of before (path.sought) enters the window at its D(i), the request, and those
// behind it not earlier. The clock stands until its frame is complete or has failed; that time is the seek
// latency, which is reported, and it is neither a drop nor a stall: the picture before the jump stays on
// display. From then on play goes on with whatever the window has.
//
// Everything is judged by the storage's stamps. A completion that is stamped at or before D(i) is on time even
// when its callback runs after slot i's timer. Three things make a miss this client's (`client`) and not the
// storage's: the completion may have come before the deadline, but nobody looked (not_before <= D); it would
// have been in time but for the time in which this loop could not run while an in-flight slot may have been
// free for the frame and not all of it was submitted, or for the frames before it, whose in-flight slots it
// waited for; or the frame was passed over although an in-flight slot may have been free at its deadline. A
// loop that could not run while the storage had all it could be given has cost nothing. What play has made up
// for since, by slots that were passed over or by a stalled play clock, is no excuse for later frames
// (held_up.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "play/frame_read.h"
#include "play/frame_stream.h"
#include "play/ledger.h"
#include "play/play_clock.h"
#include "play/play_path.h"
#include "play/progress_writer.h"
#include "play/slot_reads.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::play {

enum class OnMiss { drop, hold, stall };
enum class AccessPattern {
    filename_prefetch,  // sequences: the next names are opened and hinted when they enter the window
    streaming,          // containers: front to back in pieces of io_size, each read once
    on_demand,          // neither
};

struct PlayerOptions {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    bool paced = true;            // false: no deadlines, as fast as it goes
    std::uint64_t slots = 0;      // REQUIRES: > 0; UINT64_MAX with paced = false: until stop_submitting()
    std::uint32_t readahead = 8;  // REQUIRES: >= 1. More: smoother over stalls, more memory
    std::uint32_t inflight = 2;   // REQUIRES: >= 1
    std::uint64_t io_size = 1 << 20;
    std::uint32_t io_depth = 8;
    std::uint32_t alignment = 1;
    AccessPattern pattern = AccessPattern::on_demand;
    OnMiss on_miss = OnMiss::drop;
    Decoder* decoder = nullptr;  // where frames go once they are read; complete when it is done with them
    PlayClock* clock =
        nullptr;  // that several players run on, at one rate and from one play_start; none: its own
};

/// Nothing is allocated after the constructor.
class Player final : public FrameStream, private FrameReadOwner {
public:
    /// Bytes of memory that a player needs for its frames: the window and the places.
    static std::uint64_t memory_bytes(const PlayPath& path, const PlayerOptions& options);

    /// `memory` has memory_bytes() and belongs to this player. `changed` runs when ready() or finished()
    /// becomes true.
    Player(EventLoop& loop,
           Storage& storage,
           const PlayPath& path,
           const PlayerOptions& options,
           DeadlineLedger& ledger,
           std::span<std::byte> memory,
           StreamProgress& progress,
           Callback changed);
    ~Player() override;
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;

    /// Begins to fill the window.
    void preroll() override;
    /// min(R, frames) frames are complete or failed.
    bool ready() const override { return state_ == State::ready; }
    void play(Instant play_start, Instant series_zero) override;
    void stop_submitting() override;
    void interrupt() override;
    bool finished() const override { return state_ == State::finished; }
    const PlayerOptions& options() const { return options_; }

private:
    enum class State { idle, prerolling, ready, playing, interrupted, finished };

    Instant due(std::uint64_t slot) const { return play_start_ + clock_.held_up() + path_.due(slot); }
    Instant deadline_of(std::uint64_t slot) const;
    bool past(std::uint64_t slot) const { return slot < display_; }

    Instant scheduled_at(std::uint64_t slot) const;
    Instant entry_time(std::uint64_t slot) const;

    void want_sources(std::uint64_t slot);
    bool sources_open(std::uint64_t slot);
    void take(FrameRead& read, std::uint64_t slot);
    void advance();
    void retry();
    bool can_start();
    void release(FrameRead& read);
    void enter_until(std::uint64_t end);
    void pump();
    void pass_over(Instant now);
    bool start_next();
    void open_ahead();
    FrameRead& idle_read() {
        FrameRead& read = *idle_.back();
        idle_.pop_back();
        return read;
    }
    void abandon(std::uint64_t slot);
    FrameRead*& ahead(std::uint64_t slot) { return ahead_[slot % ahead_.size()]; }
    FrameRead*& window(std::uint64_t slot) { return window_[slot % window_.size()]; }

    void on_timer();
    void run_clock();
    bool display_next();
    void end_wait(const FrameRead& read);
    FrameOutcome unread(std::uint64_t slot) const;
    void clock_goes_on();
    void arm();

    void frame_read_ended(FrameRead& read) override;
    void frame_decoded(FrameRead& read) override;
    void frame_read_let_go(FrameRead& read) override {
        idle_.push_back(&read);
        advance();
    }
    void container_opened(SourceFile& file) override;
    void ended(FrameRead& read);
    void settled(FrameRead& read);
    void book(FrameRead& read);
    void book_unread(std::uint64_t slot, FrameKind kind, DropReason reason);
    DropReason blame(const FrameRead& read, Instant deadline) const;
    void absorb(Duration by, Instant at);
    void clock_moved(Instant at);
    /// How much earlier the frame had been submitted by a loop that always ran.
    Duration held_up(const FrameRead& read) const { return read.held_up().until(read.last_submitted(), loop_); }
    void settle(const FrameOutcome& outcome);
    void abandon_ahead(bool cancelled);
    void cancel_window(bool played);
    void cancel_read(FrameRead& read, bool played);
    void check_ready();
    void check_finished();

    EventLoop& loop_;
    Storage& storage_;
    const PlayPath& path_;
    const PlayerOptions options_;
    const SlotNeeds needs_;
    const ReadSettings read_settings_;
    DeadlineLedger& ledger_;
    ProgressWriter progress_;
    const Callback changed_;
    const std::uint32_t places_;
    PlayClock own_clock_;
    PlayClock& clock_;
    SlotReads slot_reads_;

    std::vector<std::unique_ptr<FrameRead>> reads_;
    std::vector<FrameRead*> idle_;               // the last that became it is the next that is used
    std::vector<std::span<std::byte>> buffers_;  // free: a read has one from its start until it is booked
    std::vector<FrameRead*> ahead_;              // taken, without a place yet: slots [next_, ahead_end_)
    std::vector<FrameRead*> window_;             // started, not yet on display: by slot
    StreamTail tail_;

    State state_ = State::idle;
    std::vector<SourceFile> containers_;  // by source; of those that are sequences none is ever wanted
    std::vector<ShownFrame> shown_;       // scratch
    std::uint32_t opening_ = 0;           // containers
    bool all_wanted_ = false;             // no container is left to open
    Instant preroll_began_;
    Instant play_start_;
    TimerId timer_ = 0;
    TimerId retry_ = 0;
    struct Entry {
        std::uint64_t slot = UINT64_MAX;
        Instant at;
    };
    std::vector<Entry> entries_;       // when slots entered the window, by slot
    std::uint64_t seek_ = UINT64_MAX;  // the last slot that was sought
    std::uint64_t entered_ = 0;        // slots below are in the window or past it
    std::uint64_t next_ = 0;           // the first slot whose read has not been started
    std::uint64_t ahead_end_ = 0;
    std::uint64_t display_ = 0;  // the next slot to go on display; those below are past
    std::uint64_t settled_ = 0;
    std::uint64_t prerolled_ = 0;
    std::uint32_t in_flight_ = 0;
    std::uint32_t buffered_ = 0;  // complete frames that are not yet on display
    bool waiting_ = false;        // for the frame of display_: the clock stands
    bool submitting_ = true;
    Instant decoder_behind_{INT64_MIN};  // the last time a frame found no buffer because of the decoder
    FreePlace place_;
    InflightTime inflight_time_;
    Duration clock_seen_;  // of clock_, what clock_moved() has taken into account
};

}  // namespace streamsim::play
