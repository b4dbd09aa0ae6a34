// FrameStream: one stream of a playback loop. A Player reads its frames, a Recorder writes them.
#pragma once

#include "base/time.h"

namespace streamsim::play {

/// One loop's thread; pinned. preroll() once, then play() once, then finished() becomes true. A callback tells
/// when ready() or finished() becomes true.
class FrameStream {
public:
    virtual ~FrameStream() = default;

    /// Fills the read-ahead window, or creates the files to be written.
    virtual void preroll() = 0;
    virtual bool ready() const = 0;
    /// Slot 0 is due at `play_start`; time series count from `series_zero`. REQUIRES: ready().
    virtual void play(Instant play_start, Instant series_zero) = 0;
    /// Rate `max`: no further frame starts.
    virtual void stop_submitting() = 0;
    /// Settles every slot now: due slots by what is known, the others as cancelled. Operations in flight still
    /// belong to the storage; finished() becomes true when all of them have ended.
    virtual void interrupt() = 0;
    /// Every slot is settled and the storage has no operation of the stream.
    virtual bool finished() const = 0;
};

}  // namespace streamsim::play
