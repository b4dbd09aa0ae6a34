// StreamBase: the life of a stream that a Player and a Recorder share, from preroll to its end, with its ledger
// and its progress.
#pragma once

#include <cstdint>

#include "play/frame_stream.h"
#include "play/inflight_slots.h"
#include "play/ledger.h"
#include "play/play_path.h"
#include "play/player_options.h"
#include "play/progress_writer.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::play {

class StreamBase : public FrameStream {
public:
    StreamBase(const StreamBase&) = delete;
    StreamBase& operator=(const StreamBase&) = delete;

    bool ready() const override { return state_ == State::ready; }
    bool finished() const override { return state_ == State::finished; }
    const PlayerOptions& options() const { return options_; }

protected:
    enum class State { idle, prerolling, ready, playing, interrupted, finished };
    /// Rate `max`: the pause after a frame that failed at once, so that the loop gets to its other work.
    static constexpr Duration kRetryPause = milliseconds(1);

    StreamBase(EventLoop& loop,
               Storage& storage,
               const PlayPath& path,
               const PlayerOptions& options,
               DeadlineLedger& ledger,
               StreamProgress& progress,
               Callback changed);

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

    EventLoop& loop_;
    Storage& storage_;
    const PlayPath& path_;
    const PlayerOptions options_;
    DeadlineLedger& ledger_;
    ProgressWriter progress_;
    InflightSlots inflight_;
    State state_ = State::idle;
    Instant preroll_began_;
    Instant play_start_;
    TimerId timer_ = 0;
    TimerId retry_ = 0;
    std::uint64_t settled_ = 0;
    bool submitting_ = true;

private:
    const Callback changed_;
};

}  // namespace streamsim::play
