// The signals that ask this process to end.
#pragma once

#include <span>

namespace streamsim::run {

/// Without SIGHUP where this process ignores it.
std::span<const int> end_signals();

}  // namespace streamsim::run
