#include <csignal>

#include "run/process/end_signals.h"

namespace streamsim::run {

std::span<const int> end_signals() {
    static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
    // Under nohup the process outlives its terminal.
    struct sigaction inherited {};
    const bool outlives = sigaction(SIGHUP, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
    return std::span(kSignals).first(outlives ? 2 : 3);
}

}  // namespace streamsim::run
