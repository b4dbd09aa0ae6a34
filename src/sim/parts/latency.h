// Random times in a cluster.
//
// LatencyModel: most requests take the median, more or less by `spread`, evenly; `tail_share` of them take an
// exponentially distributed time more, like requests that wait for a flash erase, a retry or a recalibration
// (Dean and Barroso, "The Tail at Scale", 2013).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/prng.h"
#include "base/time.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

/// The time of the request with this key. Never negative.
inline Duration draw_latency(const LatencyModel& model, std::uint64_t key) {
    constexpr double kTailCut = 10;  // means: LatencyModel says so
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
