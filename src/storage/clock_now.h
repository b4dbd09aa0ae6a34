// The clock of every loop in real time, for blocking code that has no loop.
#pragma once

#include <uv.h>

#include "base/time.h"

namespace streamsim::storage {

inline Instant clock_now() {
    return {static_cast<std::int64_t>(uv_hrtime())};
}

}  // namespace streamsim::storage
