// EventLoop: the clock, the timers and the turn of one thread. The player, the storage and the reports see only
// this interface; run/ chooses real time (UvLoop) or virtual time (VirtualLoop).
//
// One turn of a loop: (1) all completions are reaped and stamped before any callback runs; (2) their callbacks;
// (3) timers that are due, earliest first, equal times in the order they were set; (4) deferred callbacks; (5)
// posted functions. No callback ever runs inside the call that set it.
#pragma once

#include <cstdint>
#include <functional>

#include "base/callback.h"
#include "base/time.h"

namespace streamsim {

/// Names a timer; 0 names none.
using TimerId = std::uint64_t;

enum class StopReason {
    stopped,  // stop() was called
    idle,     // no timer, no deferred or posted call and no held operation is left
};

/// Finds completed operations: a storage backend with a completion queue.
class Reaper {
public:
    virtual ~Reaper() = default;
    /// Stamps all operations that have completed since the last call, then runs their callbacks. The loop calls
    /// it on its thread, at the beginning of each turn.
    virtual void reap() = 0;
    /// The instant of the next completion, where this queue knows it: in virtual time, where the clock jumps to
    /// it. Loops in real time wake up by what completes, and do not ask.
    virtual Instant next() const { return Instant::never(); }
};

/// A completion queue in which the loop's thread waits, for the loop's other events too: one system call
/// submits operations and waits for completions.
class Waiter {
public:
    virtual ~Waiter() = default;
    /// Submits all operations of the turn. `wait`: returns when an operation has completed, or the loop has an
    /// event. True: the loop has an event.
    virtual bool end_turn(bool wait) = 0;
};

/// The lateness of this loop's timers, and its stalls.
struct LoopLateness {
    std::int64_t p50_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t max_ns = 0;
    std::uint64_t timers = 0;
    std::uint64_t stalls = 0;  // times that the loop was late by more than its stall threshold
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

    /// True: the timer was waiting, and will not run. False: it ran already, or `timer` is 0.
    virtual bool cancel(TimerId timer) = 0;

    /// Runs `callback` on this thread after the current callback. Loop's thread only.
    virtual void defer(Callback callback) = 0;
    /// As defer(); if a timer runs, before the next timer: for short work on what that timer has in the cache.
    virtual void defer_first(Callback callback) { defer(callback); }

    /// Runs `function` on the loop's thread. The only call that any thread may make.
    virtual void post(std::function<void()> function) = 0;

    /// Runs until stop(), or until the loop is idle. A virtual loop without timers and calls while an operation
    /// is held CHECKs: a completion was lost.
    virtual StopReason run() = 0;

    /// Makes run() return after the current callback.
    virtual void stop() = 0;

    /// An operation is outstanding whose completion will come by itself (a read). release() ends it.
    virtual void hold() = 0;
    virtual void release() = 0;

    /// Adds or removes a completion queue, which each turn reaps. REQUIRES: removed before it is destroyed.
    virtual void add_reaper(Reaper* reaper) = 0;
    virtual void remove_reaper(Reaper* reaper) = 0;

    /// For a reaper that knows its next completion: moves the clock on to it, if nothing else happens until
    /// then. False: it did not; the loop goes on, and reaps again. Always false in real time.
    virtual bool skip_to(Instant /*completion*/) { return false; }

    /// Real time: each turn ends in `waiter`, which is removed by nullptr before it is destroyed. Virtual time
    /// has nothing to wait for. REQUIRES: there is no other.
    virtual void set_waiter(Waiter* waiter) = 0;

    /// The part of [from, to] in which this loop had a timer due and could not run: the process was stopped,
    /// the thread did not get the processor, or a callback took too long. Zero in virtual time. Covers a
    /// bounded number of stalls; from and to are instants of this clock.
    virtual Duration stalled_within(Instant from, Instant to) const = 0;

    virtual LoopLateness lateness() const = 0;
};

}  // namespace streamsim
