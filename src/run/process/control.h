// Control: the main thread waits and watches while a thread of its own does the work. A third thread receives
// signals, so that an interruption takes effect even where the work or the main thread is blocked.
#pragma once

#include <uv.h>

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <thread>

#include "base/system/mutex.h"
#include "loop/uv_loop.h"

namespace streamsim::run {

/// How long Control waits after a signal for a work, or for the main thread between two works.
inline constexpr Duration kInterruptTimeout = milliseconds(1200);

struct ControlOptions {
    /// How long the main thread may run between two works after a signal, until saving() extends it; zero: the
    /// process ends at once.
    Duration timeout = kInterruptTimeout;
    /// Ends the process where the main thread has not reacted in time. Called on the signal thread. Empty:
    /// Control waits for the main thread without limit.
    std::function<void()> leave;
    /// Ends the process where the work threw. Called on the main thread, while everything that the work refers
    /// to exists. Empty: run() throws the exception.
    std::function<void(std::exception_ptr)> failed;
};

/// Receives the signals that ask for the end (end_signals.h) on a thread of its own, while other threads may be
/// blocked.
class SignalThread {
public:
    /// From here on the signals are heard: `heard` runs at each of them, and from the first one on `tick` runs
    /// every 50 ms; both on this thread. Throws std::system_error where the system has no thread or descriptor
    /// left.
    SignalThread(std::function<void()> heard, std::function<void()> tick);
    /// Restores the default: each of these signals ends the process.
    ~SignalThread();

private:
    void on_signal();

    const std::function<void()> heard_;
    const std::function<void()> tick_;
    uv_loop_t loop_{};
    std::deque<uv_signal_t> signals_;
    uv_timer_t timer_{};
    uv_async_t end_{};
    std::thread thread_;
};

class Control {
public:
    /// Handles the signals of end_signals() from here on, and ignores SIGPIPE. Throws std::system_error where
    /// the system has no thread or descriptor left.
    explicit Control(ControlOptions options = {});

    struct Work {
        std::function<void()> run;  // called on a thread of its own
        std::function<void()>
            on_interrupt;  // called once, here: asks the work to end; empty: it is abandoned at once
        std::function<void()> on_tick;  // called here, ten times a second
        /// How long Control waits for the end of the work after on_interrupt; nothing: until a second signal.
        std::optional<Duration> timeout = kInterruptTimeout;
        /// Called when the timeout is over. True: the work only computes and is about to end; it then has some
        /// seconds more. Empty: false.
        std::function<bool()> about_to_end = {};
    };
    /// True: the work has ended. False: the work was abandoned and still runs, as it has no on_interrupt, or
    /// did not end in time or before a second signal: the process must end by _exit. Throws the exception of
    /// the work.
    bool run(Work work);

    /// The main thread saves something: after a signal Control waits for it for this long from now on, and
    /// after a second one for `after_second`. Any thread but the signal thread.
    void saving(Duration timeout, Duration after_second = {});

    /// Has the effect of a signal.
    void interrupt() { heard(); }
    bool interrupted() const { return interrupted_; }
    /// CLOCK_MONOTONIC.
    std::int64_t now_ns() { return loop_.now().ns; }

private:
    void heard();
    void tick();
    void on_signal();
    void watch_main();
    void leave() {
        if (options_.leave) options_.leave();
    }
    void set_working(bool working);
    void note_reaction();

    const ControlOptions options_;
    loop::UvLoop loop_;
    Work* work_ = nullptr;
    TimerId tick_ = 0;
    std::atomic<bool> interrupted_{false};
    Instant leave_at_ = Instant::never();
    Instant end_at_ = Instant::never();
    bool told_ = false;
    bool ended_ = false;
    Mutex mutex_;
    bool working_ GUARDED_BY(mutex_) = false;  // the main thread is in run()
    bool signalled_ GUARDED_BY(mutex_) = false;
    Instant signalled_at_ GUARDED_BY(mutex_);  // the last signal
    Duration timeout_ GUARDED_BY(mutex_);
    Duration after_second_ GUARDED_BY(mutex_);
    Instant over_at_ GUARDED_BY(mutex_) = Instant::never();  // since a second signal
    Instant reacted_at_ GUARDED_BY(mutex_);                  // the main thread was seen at work
    SignalThread signal_thread_;
};

}  // namespace streamsim::run
