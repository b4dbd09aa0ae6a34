// The signals that ask this process to end.
#pragma once

#include <span>

namespace streamsim::run {

std::span<const int> end_signals();

}  // namespace streamsim::run
