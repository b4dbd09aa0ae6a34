// A loop in virtual time that cannot run in chosen spans: what comes due in one runs at its end. Its clock can
// go on while callbacks run.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "loop/virtual_loop.h"

namespace streamsim::test {

struct LoopStall {
    Instant from;
    Instant to;
};

class StalledLoop final : public EventLoop {
public:
    std::vector<LoopStall> stalls;  // apart

    /// From now on each reading of the clock is later than the one before, as in real time.
    void tick() { ticks_ = true; }

    Instant now() override {
        if (!ticks_) return loop_.now();
        last_ = std::max(last_ + nanoseconds(1), loop_.now());
        return last_;
    }
    TimerId at(Instant when, Callback callback) override {
        for (const LoopStall& stall : stalls) {
            if (when >= stall.from && when < stall.to) return loop_.at(stall.to, callback);
        }
        return loop_.at(when, callback);
    }
    bool cancel(TimerId timer) override { return loop_.cancel(timer); }
    void defer(Callback callback) override { loop_.defer(callback); }
    void post(std::function<void()> function) override { loop_.post(std::move(function)); }
    StopReason run() override { return loop_.run(); }
    void stop() override { loop_.stop(); }
    void hold() override { loop_.hold(); }
    void release() override { loop_.release(); }
    void add_reaper(Reaper* reaper) override { loop_.add_reaper(reaper); }
    void remove_reaper(Reaper* reaper) override { loop_.remove_reaper(reaper); }
    void set_waiter(Waiter* waiter) override { loop_.set_waiter(waiter); }
    Duration stalled_within(Instant from, Instant to) const override {
        Duration sum;
        for (const LoopStall& stall : stalls)
            sum += std::max(std::min(to, stall.to) - std::max(from, stall.from), Duration{});
        return sum;
    }
    LoopLateness lateness() const override { return loop_.lateness(); }

private:
    loop::VirtualLoop loop_;
    bool ticks_ = false;
    Instant last_;
};

}  // namespace streamsim::test
