#include <csignal>

#include "run/process/end_signals.h"

namespace streamsim::run {

std::span<const int> end_signals() {
    static constexpr int kSignals[] = {SIGINT, SIGTERM};
    return kSignals;
}

}  // namespace streamsim::run
