// What holds back the start of a session whose streams begin together with those of other computers.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace streamsim::seats {

class StartBarrier {
public:
    /// Instants are of this computer's CLOCK_MONOTONIC.
    using Begin = std::function<void(Instant play_start)>;

    virtual ~StartBarrier() = default;

    /// Streams are planned and their memory is there; `cues` are the offsets at which some of them begin here,
    /// each once. Blocks until it is so on every computer. Errors: the run ends before it begins.
    virtual Result<void> planned(const std::vector<Duration>& cues) = 0;
    /// Every stream of this cue has filled its read-ahead here. `begin` is called once it is so everywhere:
    /// now or later, on any thread, or not at all when the run ends before. Any thread.
    virtual void ready(Duration cue, Begin begin) = 0;
    /// Every stream has ended here. Blocks until it is so everywhere: what is read from then on, to find out
    /// why frames were missed, disturbs nobody. Returns at once when the run is interrupted.
    virtual void ended() = 0;
};

}  // namespace streamsim::seats
