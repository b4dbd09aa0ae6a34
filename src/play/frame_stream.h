// FrameStream: one stream of a playback loop. A Player reads its frames, a Recorder writes them; the life of a
// stream from preroll to its end, its ledger and its progress are the same for both.
#pragma once

#include <cstdint>

#include "play/client_delay.h"
#include "play/ledger.h"
#include "play/play_path.h"
#include "play/player_options.h"
#include "streamsim/event_loop.h"
#include "streamsim/progress.h"
#include "streamsim/storage.h"

namespace streamsim::play {

/// The surroundings of a stream, which outlive it.
struct StreamParts {
    EventLoop& loop;
    Storage& storage;
    const PlayPath& path;
    PlayerOptions options;
    DeadlineLedger& ledger;
    StreamProgress& progress;
    Callback changed;  // runs when ready() or finished() becomes true
};

/// The options as they are for this path: pieces are whole units of the alignment, and streaming is for a
/// container that is read from front to back.
PlayerOptions fitted(const PlayPath& path, PlayerOptions options);

/// One loop's thread; pinned. preroll() once, then play() once, then finished() becomes true.
class FrameStream {
public:
    FrameStream(const FrameStream&) = delete;
    FrameStream& operator=(const FrameStream&) = delete;
    virtual ~FrameStream() = default;

    /// Fills the read-ahead window, or creates the files to be written.
    virtual void preroll() = 0;
    bool ready() const { return state_ == State::ready; }
    /// Slot 0 is due at `play_start`; time series count from `series_zero`, the run's first play_start.
    /// REQUIRES: ready().
    virtual void play(Instant play_start, Instant series_zero) = 0;
    /// Rate `max`: no further frame starts.
    virtual void stop_submitting() = 0;
    /// Settles every slot now: due slots by what is known, the others as cancelled. Operations in flight still
    /// belong to the storage; finished() becomes true when all of them have ended.
    virtual void interrupt() = 0;
    /// The earliest deadline that has passed and whose slot is not settled; never: there is none. No slot that
    /// is settled later has an earlier one.
    virtual Instant overdue_since() const = 0;
    /// Enters into a copy of the ledger what interrupt() would find missed now.
    virtual void copy_overdue(DeadlineLedger& copy) = 0;
    /// Every slot is settled and the storage has no operation of the stream.
    bool finished() const { return state_ == State::finished; }

protected:
    enum class State { idle, prerolling, ready, playing, interrupted, finished };
    /// Rate `max`: the pause after a frame that failed at once, so that the loop gets to its other work.
    static constexpr Duration kRetryPause = milliseconds(1);
    /// A clock that has stood for so long is shown as a stall.
    static constexpr Duration kStallShown = milliseconds(100);

    explicit FrameStream(const StreamParts& parts);

    /// The stream was interrupted, or has finished.
    bool over() const { return state_ == State::interrupted || state_ == State::finished; }
    IoTag tag(std::uint64_t slot, std::uint64_t clip_frame) const {
        return {options_.seat, options_.stream, slot, clip_frame};
    }
    void begin_preroll();
    void become_ready();
    void begin_play(Instant play_start, Instant series_zero);
    void become_interrupted();
    /// REQUIRES: every slot is settled, and the storage has no operation of the stream.
    void finish();

    /// The outcome of a slot of which nothing but its frame is known.
    FrameOutcome empty_outcome(std::uint64_t slot) const;
    void settle(const FrameOutcome& outcome);
    /// The play clock stopped for the frame of this slot.
    void settle_stall(const FrameOutcome& frame, Instant from, Instant to, bool client);

    void show_state(StreamState state) { progress_.state.store(state, std::memory_order_relaxed); }
    /// `slots` have been on display, and `buffered` complete frames are ahead of them.
    void show_displayed(std::uint64_t slots, std::uint32_t buffered);
    /// So many slots will be missed that are not settled yet, the first of them due at `since`.
    void show_overdue(std::uint64_t slots, Instant since);
    std::uint64_t shown_overdue() const { return overdue_; }
    /// The clock stands, and a stall will be settled.
    void show_open_stall() { progress_.stalls.store(ledger_.counts().stalls + 1, std::memory_order_relaxed); }

    EventLoop& loop_;
    Storage& storage_;
    const PlayPath& path_;
    const PlayerOptions options_;
    DeadlineLedger& ledger_;
    InflightSlots inflight_;
    State state_ = State::idle;
    Instant preroll_began_;
    Instant play_start_;
    TimerId timer_ = 0;
    TimerId retry_ = 0;
    std::uint64_t settled_ = 0;
    bool submitting_ = true;

private:
    void show_settled(const FrameOutcome& outcome);
    void show_counts();
    void show_margin(Instant deadline, Duration margin);

    StreamProgress& progress_;
    const Callback changed_;
    Instant series_zero_;
    std::uint64_t overdue_ = 0;        // slots that are shown as missed, and not settled
    std::int64_t second_ = INT64_MIN;  // of the deadline of the last margin
    std::int64_t margin_min_ = INT64_MAX;
    std::int64_t margin_now_ = INT64_MAX;
    std::int64_t margin_before_ = INT64_MAX;  // in the second before it
};

}  // namespace streamsim::play
