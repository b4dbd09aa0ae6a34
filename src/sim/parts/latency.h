// Random times in a cluster. Each request draws by its own key, not by the order of requests: a cluster that is
// faster in one part sees the same slow answers elsewhere.
//
// LatencyModel: most requests take the median, more or less by `spread`, evenly; `tail_share` of them take an
// exponentially distributed time more, like requests that wait for a flash erase, a retry or a recalibration
// (Dean and Barroso, "The Tail at Scale", 2013).
#pragma once

#include <cstdint>

#include "base/prng.h"
#include "base/time.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

/// The time of the request with this key. Never negative.
Duration draw_latency(const LatencyModel& model, std::uint64_t key);

}  // namespace streamsim::sim
