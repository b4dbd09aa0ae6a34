// StartBarrier: holds back the start of a session until the streams of all other computers are ready, too.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace streamsim::seats {

class StartBarrier {
public:
    /// `play_start` is an instant of this computer's CLOCK_MONOTONIC.
    using Begin = std::function<void(Instant play_start)>;

    virtual ~StartBarrier() = default;

    /// The streams are planned and their memory is allocated; `groups` are the start offsets of the start
    /// groups here, each once. Blocks until every computer has planned. Errors: the run ends before it begins.
    virtual Result<void> planned(const std::vector<Duration>& groups) = 0;
    /// Every stream of this start group has filled its read-ahead here. `begin` is called when the group is
    /// ready everywhere: now or later, on any thread, or never when the run ends before. Any thread.
    virtual void ready(Duration group, Begin begin) = 0;
    /// Every stream has ended here. Blocks until every stream has ended everywhere, so that re-reads of missed
    /// frames disturb nobody. Returns at once when the run is interrupted.
    virtual void ended() = 0;
};

}  // namespace streamsim::seats
