#include "loop/virtual_loop.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim::loop {

TimerId VirtualLoop::at(Instant when, Callback callback) {
    return timers_.set(std::max(when, now_), callback);
}

StopReason VirtualLoop::run() {
    stopping_ = false;
    while (!stopping_) {
        reap();
        if (has_calls()) run_calls();
        if (stopping_) break;
        if (has_calls()) continue;
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

}  // namespace streamsim::loop
