// Random times in a cluster.
//
// LatencyModel: most requests take the median, more or less by `spread`, evenly; `tail_share` of them take an
// exponentially distributed time more, like requests that wait for a flash erase, a retry or a recalibration
// (Dean and Barroso, "The Tail at Scale", 2013). Or measured quantiles: the inverse of the distribution goes
// straight from each to the next, and below p10 on with the slope between p10 and p50.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/prng.h"
#include "base/time.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

/// The time that a share of the requests takes at most. REQUIRES: by_quantiles; a share from 0 to 1.
inline Duration quantile_of(const LatencyModel& model, double share) {
    const auto& shares = LatencyModel::kShares;
    std::size_t upper = 1;
    while (upper + 1 < shares.size() && share > shares[upper]) ++upper;
    const auto low = static_cast<double>(model.quantiles[upper - 1].ns);
    const auto high = static_cast<double>(model.quantiles[upper].ns);
    const double ns = low + (high - low) * (share - shares[upper - 1]) / (shares[upper] - shares[upper - 1]);
    return {static_cast<std::int64_t>(std::max(ns, 0.0))};
}

/// The time of the request with this key. Never negative.
inline Duration draw_latency(const LatencyModel& model, std::uint64_t key) {
    constexpr double kTailCut = 10;  // means: LatencyModel says so
    if (model.by_quantiles) return quantile_of(model, Prng(key).unit());
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
