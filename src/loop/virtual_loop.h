// A loop in virtual time: the clock is stopped while callbacks run, and jumps to the next timer when no
// callback is left. An hour of play takes as long as its callbacks take.
#pragma once

#include <algorithm>

#include "loop/loop_base.h"

namespace streamsim::loop {

/// Begins at Instant{0}.
class VirtualLoop final : public LoopBase {
public:
    Instant now() override { return now_; }
    TimerId at(Instant when, Callback callback) override { return timers_.set(std::max(when, now_), callback); }
    StopReason run() override {
        stopping_ = false;
        while (!stopping_) {
            reap();
            run_calls();
            if (stopping_) break;
            if (!deferred_.empty() || has_posted()) continue;
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
    Duration stalled_within(Instant, Instant) const override { return {}; }
    LoopLateness lateness() const override { return {.timers = timers_run_}; }

private:
    Instant now_;
    std::uint64_t timers_run_ = 0;
};

}  // namespace streamsim::loop
