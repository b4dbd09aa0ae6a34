#include "sim/parts/latency.h"

#include <algorithm>
#include <cmath>

namespace streamsim::sim {
namespace {
constexpr double kTailCut = 10;  // means: LatencyModel says so
}

Duration draw_latency(const LatencyModel& model, std::uint64_t key) {
    if (model.median.ns == 0 && model.tail_share == 0) return {};
    Prng prng(key);
    const double share = 1 + model.spread * (2 * prng.unit() - 1);
    double ns = static_cast<double>(model.median.ns) * share;
    if (model.tail_share > 0 && prng.unit() < model.tail_share) {
        ns += static_cast<double>(model.tail_mean.ns) * std::min(draw_exponential(prng), kTailCut);
    }
    return {static_cast<std::int64_t>(std::max(ns, 0.0))};
}

}  // namespace streamsim::sim
