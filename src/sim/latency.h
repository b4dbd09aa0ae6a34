// Chance in a cluster. A request meets its own chance, by a key that says which one it is, not by when it
// comes: a cluster that is faster in one part sees the same slow answers elsewhere.
//
// LatencyModel: most requests take the median, more or less by `spread`, evenly; `tail_share` of them take an
// exponentially distributed time more, as requests that fell behind a flash erase, a retry or a recalibration
// (Dean and Barroso, "The Tail at Scale", 2013).
#pragma once

#include <cstdint>

#include "base/prng.h"
#include "base/time.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

/// The time of the request that `key` names. Never negative.
Duration draw_latency(const LatencyModel& model, std::uint64_t key);

}  // namespace streamsim::sim
