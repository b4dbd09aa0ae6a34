// A clock for pauses and time limits of threads that have no event loop. Frames are never judged by it.
#pragma once

#include <cstdint>

namespace streamsim {

/// Nanoseconds from an instant in the past; never goes back.
std::uint64_t monotonic_ns();

}  // namespace streamsim
