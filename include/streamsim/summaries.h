// Distributions in a few numbers, nanoseconds.
#pragma once

#include <cstdint>

namespace streamsim {

struct MarginSummary {  // nullopt: no frame with a deadline was completed
    std::int64_t min = 0, p0_1 = 0, p1 = 0, p10 = 0, p50 = 0, max = 0;
};
struct LatencySummary {
    std::int64_t p50 = 0, p90 = 0, p99 = 0, p99_9 = 0, max = 0;
};
struct BufferSummary {
    std::uint64_t min = 0, p1 = 0, p50 = 0;
};

}  // namespace streamsim
