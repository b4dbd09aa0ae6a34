// A loop in virtual time: the clock is stopped while callbacks run, and jumps to the next timer when no
// callback is left. An hour of play takes as long as its callbacks take.
#pragma once

#include "loop/loop_base.h"

namespace streamsim::loop {

/// Begins at Instant{0}.
class VirtualLoop final : public LoopBase {
public:
    Instant now() override { return now_; }
    TimerId at(Instant when, Callback callback) override;
    StopReason run() override;
    bool skip_to(Instant completion) override;
    Duration stalled_within(Instant, Instant) const override { return {}; }
    LoopLateness lateness() const override { return {.timers = timers_run_}; }

private:
    Instant now_;
    std::uint64_t timers_run_ = 0;
};

}  // namespace streamsim::loop
