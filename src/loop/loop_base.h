// The timers, callbacks, posted functions and completion queues of a loop, in real and in virtual time alike.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/system/mutex.h"
#include "loop/timer_queue.h"
#include "streamsim/event_loop.h"

namespace streamsim::loop {

/// Threading as in EventLoop: post() from anywhere, the rest from run()'s thread.
class LoopBase : public EventLoop {
public:
    TimerId at(Instant when, Callback callback) override { return timers_.set(when, callback); }
    bool cancel(TimerId timer) override { return timers_.cancel(timer); }
    void defer(Callback callback) override { deferred_.push_back(callback); }
    void post(std::function<void()> function) override {
        const MutexLock lock(mutex_);
        posted_.push_back(std::move(function));
        has_posted_.store(true, std::memory_order_release);
    }
    void stop() override { stopping_ = true; }
    void hold() override { ++held_; }
    void release() override {
        STREAMSIM_CHECK(held_ > 0, "release() answers a hold()");
        --held_;
    }
    void add_reaper(Reaper* reaper) override { reapers_.push_back(reaper); }
    void remove_reaper(Reaper* reaper) override { std::erase(reapers_, reaper); }

protected:
    bool has_posted() const { return has_posted_.load(std::memory_order_acquire); }
    void reap() {
        for (Reaper* reaper : reapers_) reaper->reap();
    }
    /// Runs the deferred callbacks, then the posted functions, that were there when it began.
    void run_calls() {
        deferred_now_.swap(deferred_);
        for (const Callback callback : deferred_now_) callback();
        deferred_now_.clear();
        if (!has_posted()) return;
        std::vector<std::function<void()>> functions;
        {
            const MutexLock lock(mutex_);
            functions.swap(posted_);
            has_posted_.store(false, std::memory_order_release);
        }
        for (auto& function : functions) function();
    }

    TimerQueue timers_;
    std::vector<Callback> deferred_;
    std::uint64_t held_ = 0;
    bool stopping_ = false;

private:
    std::vector<Callback> deferred_now_;
    std::vector<Reaper*> reapers_;
    std::atomic<bool> has_posted_{false};
    Mutex mutex_;
    std::vector<std::function<void()>> posted_ GUARDED_BY(mutex_);
};

}  // namespace streamsim::loop
