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
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "loop/timer_queue.h"
#include "loop/wake_timer.h"
#include "metrics/histogram.h"
#include "streamsim/event_loop.h"

namespace streamsim::loop {

/// Threading as in EventLoop. All UvLoops of a process share one clock, uv_hrtime() (CLOCK_MONOTONIC).
class UvLoop final : public EventLoop {
public:
    /// Throws std::system_error where the system has no descriptor or memory left.
    UvLoop();
    /// REQUIRES: every handle that others put on uv() is closed.
    ~UvLoop() override;
    UvLoop(const UvLoop&) = delete;
    UvLoop& operator=(const UvLoop&) = delete;

    uv_loop_t* uv() { return &loop_; }

    Instant now() override { return {static_cast<std::int64_t>(uv_hrtime())}; }
    TimerId at(Instant when, Callback callback) override { return timers_.set(when, callback); }
    bool cancel(TimerId timer) override { return timers_.cancel(timer); }
    void defer(Callback callback) override { deferred_.push_back(callback); }
    void post(std::function<void()> function) override;
    StopReason run() override;
    void stop() override { stopping_ = true; }
    void hold() override { ++held_; }
    void release() override;
    void add_reaper(Reaper* reaper) override { reapers_.push_back(reaper); }
    void remove_reaper(Reaper* reaper) override;
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
    void run_deferred();
    void run_posted();
    void note_stall(Instant due, Instant now);
    void beat();
    void prepare_to_wait();
    bool idle() const;

    uv_loop_t loop_{};
    uv_async_t wake_{};
    uv_check_t check_{};
    uv_idle_t busy_{};  // active while a callback is deferred: the poll must not wait
    std::optional<WakeTimer> wake_timer_;
    Instant armed_ = Instant::never();
    TimerQueue timers_;
    TimerId heartbeat_ = 0;
    std::vector<Callback> deferred_;
    std::vector<Callback> deferred_now_;
    std::vector<Reaper*> reapers_;
    std::uint64_t held_ = 0;
    bool stopping_ = false;
    Instant alive_;  // the end of the last turn
    metrics::Histogram lateness_;
    std::array<Stall, 256> stalls_{};
    std::uint64_t stall_count_ = 0;
    Duration stalled_;
    std::atomic<bool> has_posted_{false};
    std::mutex mutex_;
    std::vector<std::function<void()>> posted_;  // protected by mutex_
};

}  // namespace streamsim::loop
