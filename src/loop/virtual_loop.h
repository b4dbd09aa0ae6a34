// A loop in virtual time: the clock stands still while callbacks run, and jumps to the next timer when no
// callback is left. An hour of play takes as long as its callbacks take.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "loop/timer_queue.h"
#include "streamsim/event_loop.h"

namespace streamsim::loop {

/// Begins at Instant{0}. Threading as in EventLoop: post() from anywhere, the rest from run()'s thread.
class VirtualLoop final : public EventLoop {
public:
    Instant now() override { return now_; }
    TimerId at(Instant when, Callback callback) override;
    bool cancel(TimerId timer) override { return timers_.cancel(timer); }
    void defer(Callback callback) override { deferred_.push_back(callback); }
    void post(std::function<void()> function) override;
    StopReason run() override;
    void stop() override { stopping_ = true; }
    void hold() override { ++held_; }
    void release() override;
    void add_reaper(Reaper* reaper) override { reapers_.push_back(reaper); }
    void remove_reaper(Reaper* reaper) override;
    Duration stalled_within(Instant, Instant) const override { return {}; }
    LoopLateness lateness() const override;

private:
    void run_deferred();
    void run_posted();

    Instant now_;
    TimerQueue timers_;
    std::vector<Callback> deferred_;
    std::vector<Callback> deferred_now_;
    std::vector<Reaper*> reapers_;
    std::uint64_t held_ = 0;
    std::uint64_t timers_run_ = 0;
    bool stopping_ = false;
    std::atomic<bool> has_posted_{false};
    std::mutex mutex_;
    std::vector<std::function<void()>> posted_;  // protected by mutex_
};

}  // namespace streamsim::loop
