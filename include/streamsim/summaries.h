// Distributions in a few numbers, nanoseconds.
#pragma once

#include <cstdint>

#include "streamsim/fields.h"

namespace streamsim {

struct MarginSummary {  // nullopt: no frame with a deadline was completed
    std::int64_t min = 0, p0_1 = 0, p1 = 0, p10 = 0, p50 = 0, max = 0;
};
void fields(ConstOr<MarginSummary> auto& margin, auto& visit) {
    visit("min", margin.min);
    visit("p0_1", margin.p0_1);
    visit("p1", margin.p1);
    visit("p10", margin.p10);
    visit("p50", margin.p50);
    visit("max", margin.max);
}

struct LatencySummary {
    std::int64_t p50 = 0, p90 = 0, p99 = 0, p99_9 = 0, max = 0;
};
void fields(ConstOr<LatencySummary> auto& latency, auto& visit) {
    visit("p50", latency.p50);
    visit("p90", latency.p90);
    visit("p99", latency.p99);
    visit("p99_9", latency.p99_9);
    visit("max", latency.max);
}

struct BufferSummary {
    std::uint64_t min = 0, p1 = 0, p50 = 0;
};
void fields(ConstOr<BufferSummary> auto& buffer, auto& visit) {
    visit("min", buffer.min);
    visit("p1", buffer.p1);
    visit("p50", buffer.p50);
}

}  // namespace streamsim
