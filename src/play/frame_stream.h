// FrameStream: what a world conducts, whichever way its frames go: a Player reads them, a Recorder writes them.
#pragma once

#include "base/time.h"

namespace streamsim::play {

/// One loop's thread; pinned. preroll() once, then play() once, then finished() comes true. Whoever made it is
/// told when ready() or finished() becomes true.
class FrameStream {
public:
    virtual ~FrameStream() = default;

    /// Makes itself ready: fills a window, or makes what is to be written into.
    virtual void preroll() = 0;
    virtual bool ready() const = 0;
    /// Slot 0 is due at `play_start`; what is drawn over time counts from `series_zero`. REQUIRES: ready().
    virtual void play(Instant play_start, Instant series_zero) = 0;
    /// Rate `max`: no further frame is begun.
    virtual void stop_submitting() = 0;
    /// Settles everything now: what was due as it stands, the rest as cancelled. Operations that are under way
    /// still belong to the storage; finished() comes when it has given them back.
    virtual void interrupt() = 0;
    /// Every slot is settled and the storage has nothing of ours.
    virtual bool finished() const = 0;
};

}  // namespace streamsim::play
