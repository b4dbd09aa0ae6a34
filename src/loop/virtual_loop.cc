#include "loop/virtual_loop.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim::loop {

TimerId VirtualLoop::at(Instant when, Callback callback) {
    return timers_.set(std::max(when, now_), callback);
}

void VirtualLoop::post(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(function));
    has_posted_.store(true, std::memory_order_release);
}

StopReason VirtualLoop::run() {
    stopping_ = false;
    while (!stopping_) {
        for (Reaper* reaper : reapers_) reaper->reap();
        run_deferred();
        if (has_posted_.load(std::memory_order_acquire)) run_posted();
        if (stopping_) break;
        if (!deferred_.empty() || has_posted_.load(std::memory_order_acquire)) continue;
        if (timers_.empty()) {
            STREAMSIM_CHECK(held_ == 0, "nothing is left to happen, but an operation is outstanding");
            return StopReason::idle;
        }
        if (timers_.next() > now_) {
            now_ = timers_.next();
            continue;  // a new instant begins with its completions
        }
        const Callback callback = timers_.pop(now_);
        ++timers_run_;
        callback();
    }
    return StopReason::stopped;
}

void VirtualLoop::release() {
    STREAMSIM_CHECK(held_ > 0, "release() answers a hold()");
    --held_;
}

void VirtualLoop::remove_reaper(Reaper* reaper) {
    std::erase(reapers_, reaper);
}

LoopLateness VirtualLoop::lateness() const {
    LoopLateness lateness;
    lateness.timers = timers_run_;
    return lateness;
}

void VirtualLoop::run_deferred() {
    deferred_now_.swap(deferred_);
    for (const Callback callback : deferred_now_) callback();
    deferred_now_.clear();
}

void VirtualLoop::run_posted() {
    std::vector<std::function<void()>> functions;
    {
        const std::lock_guard lock(mutex_);
        functions.swap(posted_);
        has_posted_.store(false, std::memory_order_release);
    }
    for (auto& function : functions) function();
}

}  // namespace streamsim::loop
