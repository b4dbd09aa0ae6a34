// Hears SIGINT and SIGTERM on a thread of its own, whatever the other threads are blocked in. Inside run/ only.
#pragma once

#include <uv.h>

#include <functional>
#include <thread>

namespace streamsim::run {

class SignalThread {
public:
    /// From here on both signals are heard: `heard` runs at each of them, and from the first one on `tick` runs
    /// every 50 ms; both on this thread. Throws std::system_error where the system has no thread or descriptor
    /// left.
    SignalThread(std::function<void()> heard, std::function<void()> tick);
    /// Both signals end the process again.
    ~SignalThread();
    SignalThread(const SignalThread&) = delete;
    SignalThread& operator=(const SignalThread&) = delete;

private:
    void on_signal();

    const std::function<void()> heard_;
    const std::function<void()> tick_;
    uv_loop_t loop_{};
    uv_signal_t signals_[2]{};
    uv_timer_t timer_{};
    uv_async_t end_{};
    std::thread thread_;
};

}  // namespace streamsim::run
