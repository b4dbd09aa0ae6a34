// The main thread: it waits, watches and listens, while the work is done on a thread of its own. Signals are
// heard on a third one. So an interruption is heard at any moment, whatever the work or the main thread is
// blocked in.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "loop/uv_loop.h"
#include "run/process/signal_thread.h"

namespace streamsim::run {

/// How long Control waits after a signal for a work, or for the main thread between two works.
inline constexpr Duration kInterruptTimeout = milliseconds(1200);

struct ControlOptions {
    /// How long the main thread may go on between two works after a signal, until saving() says otherwise;
    /// zero: nothing is lost where it ends at once.
    Duration timeout = kInterruptTimeout;
    /// Ends the process: the main thread has not reacted in time. On the thread that hears signals. Empty: it
    /// is waited for without end.
    std::function<void()> leave;
    /// Ends the process: the work threw. On the main thread, before anything that the work refers to goes.
    /// Empty: run() throws it.
    std::function<void(std::exception_ptr)> failed;
};

class Control {
public:
    /// From here on SIGINT and SIGTERM are heard here; SIGPIPE is ignored. Throws std::system_error where the
    /// system has no thread or descriptor left for that.
    explicit Control(ControlOptions options = {});
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    struct Work {
        std::function<void()> run;  // on a thread of its own
        std::function<void()>
            on_interrupt;               // once, here: asks the work to end; empty: it is left behind at once
        std::function<void()> on_tick;  // here, ten times a second
        /// How long Control waits for its end after on_interrupt; nothing: until a second signal.
        std::optional<Duration> timeout = kInterruptTimeout;
        /// Asked when that is over: whether the work waits for nobody any more and is about to end. It then has
        /// some seconds more. Empty: no.
        std::function<bool()> about_to_end = {};
    };
    /// True when the work has ended; false when it was left behind, still running, because it was not asked to
    /// end or did not before a second signal or in its time: the process must end by _exit. Throws what the
    /// work threw.
    bool run(Work work);

    /// The main thread saves something that takes its time: after a signal it is waited for this long from now
    /// on. Any thread but the one that hears signals.
    void saving(Duration timeout);

    /// As a signal would.
    void interrupt() { heard(); }
    bool interrupted() const { return interrupted_; }
    /// CLOCK_MONOTONIC.
    std::int64_t now_ns() { return loop_.now().ns; }

private:
    void heard();
    void tick();
    void on_signal();
    void watch_main();
    void leave();
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
    std::mutex mutex_;
    bool working_ = false;    // protected by mutex_: the main thread is in run()
    bool signalled_ = false;  // protected by mutex_
    Instant signalled_at_;    // protected by mutex_: the last signal
    Duration timeout_;        // protected by mutex_
    Instant reacted_at_;      // protected by mutex_: the main thread was seen at work
    SignalThread signal_thread_;
};

}  // namespace streamsim::run
