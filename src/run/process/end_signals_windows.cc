// Ctrl-C, Ctrl-Break, and a console window that is closed, after which Windows waits five seconds and ends the
// process. No program hears taskkill /F; programs without a window do not hear taskkill without it either.
#include <uv.h>

#include "run/process/end_signals.h"

namespace streamsim::run {

std::span<const int> end_signals() {
    static constexpr int kSignals[] = {SIGINT, SIGBREAK, SIGHUP};  // as libuv names these events
    return kSignals;
}

}  // namespace streamsim::run
