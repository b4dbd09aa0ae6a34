// A loop in real time, on libuv. Deadlines are a WakeTimer, because libuv's own timers count in milliseconds;
// every other file descriptor, the thread pool and signals are libuv's too.
//
// Lateness. Each timer's lateness is measured when it runs. A heartbeat timer is due at least every few
// milliseconds; when a turn begins more than kStallThreshold after a timer was due, the loop could not run, and
// the time since the end of the last turn is recorded as a stall. Stalls tell a frame whose read was submitted
// late, or whose completion was seen late, from one that the storage delivered late.
#pragma once

#include <uv.h>

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "loop/loop_base.h"
#include "loop/wake_timer.h"
#include "metrics/histogram.h"

namespace streamsim::loop {

/// All UvLoops of a process share one clock, uv_hrtime() (CLOCK_MONOTONIC).
class UvLoop final : public LoopBase {
public:
    /// Throws std::system_error where the system has no descriptor or memory left.
    UvLoop();
    /// REQUIRES: every handle that others put on uv() is closed.
    ~UvLoop() override;
    UvLoop(const UvLoop&) = delete;
    UvLoop& operator=(const UvLoop&) = delete;

    uv_loop_t* uv() { return &loop_; }

    Instant now() override { return {static_cast<std::int64_t>(uv_hrtime())}; }
    void post(std::function<void()> function) override;
    void defer_first(Callback callback) override;
    StopReason run() override;
    Duration stalled_within(Instant from, Instant to) const override;
    LoopLateness lateness() const override;

private:
    static constexpr Duration kHeartbeat = milliseconds(5);
    static constexpr Duration kStallThreshold = milliseconds(2);

    struct Stall {
        Instant from;
        Instant to;
    };

    void turn();
    void run_timers();
    void note_stall(Instant due, Instant now);
    void beat();
    void prepare_to_wait();
    bool idle() const;

    uv_loop_t loop_{};
    uv_async_t wake_{};
    uv_check_t check_{};
    bool in_timer_ = false;
    std::vector<Callback> behind_timer_;
    uv_idle_t busy_{};  // active while a callback is deferred: the poll must not wait
    std::optional<WakeTimer> wake_timer_;
    Instant armed_ = Instant::never();
    TimerId heartbeat_ = 0;
    Instant alive_;  // the end of the last turn
    metrics::Histogram lateness_;
    std::array<Stall, 256> stalls_{};
    std::uint64_t stall_count_ = 0;
    Duration stalled_;
};

}  // namespace streamsim::loop
