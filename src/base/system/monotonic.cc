#include "base/system/monotonic.h"

#include <chrono>

namespace streamsim {

std::uint64_t monotonic_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace streamsim
