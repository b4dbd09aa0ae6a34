#include "loop/virtual_loop.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim::loop {

TimerId VirtualLoop::at(Instant when, Callback callback) {
    return timers_.set(std::max(when, now_), callback);
}

bool VirtualLoop::skip_to(Instant completion) {
    if (stopping_ || has_calls() || completion == Instant::never()) return false;
    if (!timers_.empty() && timers_.next() <= completion) return false;
    if (reapers_.size() > 1) return false;  // another one may be earlier
    now_ = completion;
    return true;
}

StopReason VirtualLoop::run() {
    stopping_ = false;
    while (!stopping_) {
        reap();
        if (has_calls()) run_calls();
        if (stopping_) break;
        if (has_calls()) continue;
        const Instant timer = timers_.empty() ? Instant::never() : timers_.next();
        if (timer > now_) {
            const Instant next = std::min(timer, next_completion());
            if (next == Instant::never()) {
                STREAMSIM_CHECK(held_ == 0, "nothing is left to happen, but an operation is outstanding");
                return StopReason::idle;
            }
            now_ = std::max(now_, next);
            continue;  // a new instant begins with its completions
        }
        const Callback callback = timers_.pop(now_);
        ++timers_run_;
        callback();
    }
    return StopReason::stopped;
}

}  // namespace streamsim::loop
