// EventLoop: the clock, the timers and the turn of one thread. The player, the storage and the reports see
// only this; whether time is real (UvLoop) or virtual (VirtualLoop) is the business of run/.
//
// One turn of a loop: (1) completions that are there are reaped and stamped, all of them, before any callback
// runs; (2) their callbacks; (3) timers that are due, earliest first, equal times in the order they were set;
// (4) deferred callbacks; (5) posted functions. No callback ever runs inside the call that set it.
#pragma once

#include <cstdint>
#include <functional>

#include "base/callback.h"
#include "base/time.h"

namespace streamsim {

/// Names a timer that was set; 0 names none.
using TimerId = std::uint64_t;

enum class StopReason {
    stopped,  // stop() was called
    idle,     // nothing left to happen: no timer, no deferred or posted call, nothing held
};

/// Something that finds out what has completed: a storage backend with a completion queue.
class Reaper {
public:
    virtual ~Reaper() = default;
    /// Stamps whatever has completed since the last call, then runs the callbacks. Called by the loop, on its
    /// thread, at the beginning of each turn.
    virtual void reap() = 0;
};

/// How late this loop ran its timers, and how long it could not run at all.
struct LoopLateness {
    std::int64_t p50_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t max_ns = 0;
    std::uint64_t timers = 0;
    std::uint64_t stalls = 0;  // times the loop was late by more than its stall threshold
    std::int64_t stalled_ns = 0;
};

class EventLoop {
public:
    virtual ~EventLoop() = default;

    /// The time by this loop's clock. Never runs backwards.
    virtual Instant now() = 0;

    /// Runs `callback` once, when now() >= `when`; a time in the past means the next turn. Never allocates
    /// when no more timers are set than were ever set at once before.
    virtual TimerId at(Instant when, Callback callback) = 0;

    /// True when the timer was still waiting; it will not run. A timer that ran, or 0, gives false.
    virtual bool cancel(TimerId timer) = 0;

    /// Runs `callback` on this thread after what is under way. Loop's thread only.
    virtual void defer(Callback callback) = 0;

    /// Runs `function` on the loop's thread. The only call that any thread may make.
    virtual void post(std::function<void()> function) = 0;

    /// Runs until stop() or until nothing is left to happen. A virtual loop with nothing left to happen while
    /// something is held CHECKs: an answer was lost.
    virtual StopReason run() = 0;

    /// Makes run() return after the callback that is under way.
    virtual void stop() = 0;

    /// Something is outstanding whose completion will come by itself (a read). Balanced by release().
    virtual void hold() = 0;
    virtual void release() = 0;

    /// Adds or removes a completion queue to look at each turn. REQUIRES: removed before it is destroyed.
    virtual void add_reaper(Reaper* reaper) = 0;
    virtual void remove_reaper(Reaper* reaper) = 0;

    /// The part of [from, to] in which this loop had something due and could not run: the process was stopped,
    /// the thread did not get the processor, or a callback took too long. Zero in virtual time.
    /// CompletionPollTimes back over a bounded number of stalls; from and to are instants of this clock.
    virtual Duration stalled_within(Instant from, Instant to) const = 0;

    virtual LoopLateness lateness() const = 0;
};

}  // namespace streamsim
