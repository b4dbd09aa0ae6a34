#include "loop/loop_base.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"

namespace streamsim::loop {

TimerId LoopBase::at(Instant when, Callback callback) {
    return timers_.set(when, callback);
}

bool LoopBase::cancel(TimerId timer) {
    return timers_.cancel(timer);
}

void LoopBase::defer(Callback callback) {
    deferred_.push_back(callback);
}

void LoopBase::post(std::function<void()> function) {
    const MutexLock lock(mutex_);
    posted_.push_back(std::move(function));
    has_posted_.store(true, std::memory_order_release);
}

void LoopBase::stop() {
    stopping_ = true;
}

void LoopBase::hold() {
    ++held_;
}

void LoopBase::release() {
    STREAMSIM_CHECK(held_ > 0, "release() answers a hold()");
    --held_;
}

void LoopBase::add_reaper(Reaper* reaper) {
    reapers_.push_back(reaper);
}

void LoopBase::remove_reaper(Reaper* reaper) {
    std::erase(reapers_, reaper);
}

void LoopBase::set_waiter(Waiter* waiter) {
    STREAMSIM_CHECK(waiter_ == nullptr || waiter == nullptr, "a loop waits in one completion queue");
    waiter_ = waiter;
}

void LoopBase::reap() {
    for (Reaper* reaper : reapers_) reaper->reap();
}

Instant LoopBase::next_completion() const {
    Instant next = Instant::never();
    for (const Reaper* reaper : reapers_) next = std::min(next, reaper->next());
    return next;
}

void LoopBase::run_calls() {
    deferred_now_.swap(deferred_);
    for (const Callback callback : deferred_now_) callback();
    deferred_now_.clear();
    if (!has_posted_.load(std::memory_order_acquire)) return;
    std::vector<std::function<void()>> functions;
    {
        const MutexLock lock(mutex_);
        functions.swap(posted_);
        has_posted_.store(false, std::memory_order_release);
    }
    for (auto& function : functions) function();
}

}  // namespace streamsim::loop
