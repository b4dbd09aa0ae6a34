// The timers, callbacks, posted functions and completion queues of a loop, in real and in virtual time alike.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/system/mutex.h"
#include "loop/timer_queue.h"
#include "streamsim/event_loop.h"

namespace streamsim::loop {

/// Threading as in EventLoop: post() from anywhere, the rest from run()'s thread.
class LoopBase : public EventLoop {
public:
    TimerId at(Instant when, Callback callback) override;
    bool cancel(TimerId timer) override;
    void defer(Callback callback) override;
    void post(std::function<void()> function) override;
    void stop() override;
    void hold() override;
    void release() override;
    void add_reaper(Reaper* reaper) override;
    void remove_reaper(Reaper* reaper) override;
    void set_waiter(Waiter* waiter) override;

protected:
    /// run_calls() has something to run.
    bool has_calls() const { return !deferred_.empty() || has_posted_.load(std::memory_order_acquire); }
    void reap();
    /// The earliest of the reapers' next completions.
    Instant next_completion() const;
    /// Runs the deferred callbacks, then the posted functions, that were there when it began.
    void run_calls();

    TimerQueue timers_;
    std::vector<Callback> deferred_;
    std::vector<Reaper*> reapers_;
    std::uint64_t held_ = 0;
    bool stopping_ = false;
    Waiter* waiter_ = nullptr;

private:
    std::vector<Callback> deferred_now_;
    std::atomic<bool> has_posted_{false};
    Mutex mutex_;
    std::vector<std::function<void()>> posted_ GUARDED_BY(mutex_);
};

}  // namespace streamsim::loop
