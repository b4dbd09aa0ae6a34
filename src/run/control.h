// The main thread: it waits, watches and listens to signals, while the work is done on a thread of its own. So
// an interruption is heard at any moment, whatever the work is blocked in.
#pragma once

#include <functional>
#include <optional>

#include "loop/uv_loop.h"

namespace streamsim {

class Control {
public:
    /// From here on SIGINT and SIGTERM are heard here; SIGPIPE is ignored.
    Control();
    ~Control();
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    struct Work {
        std::function<void()> run;  // on a thread of its own
        std::function<void()>
            on_interrupt;               // once, here: asks the work to end; empty: it is left behind at once
        std::function<void()> on_tick;  // here, ten times a second
        /// How long it is waited for after on_interrupt; nothing: until a second signal.
        std::optional<Duration> patience = std::nullopt;
    };
    /// True when the work has ended; false when it was left behind, still running, because it was not asked to
    /// end or did not before a second signal or in its time: the process must end by _exit. Throws what the
    /// work threw.
    bool run(Work work);

    /// As a signal would.
    void interrupt() { heard(); }
    bool interrupted() const { return interrupted_; }
    /// CLOCK_MONOTONIC.
    std::int64_t now_ns() { return loop_.now().ns; }

private:
    void heard();
    void tick();

    UvLoop loop_;
    uv_signal_t signals_[2]{};
    Work* work_ = nullptr;
    bool interrupted_ = false;
    Instant leave_at_ = Instant::never();
    bool told_ = false;
    bool ended_ = false;
};

}  // namespace streamsim
