// Workloads as requests to play.
#pragma once

#include <cstdint>
#include <vector>

#include "run/plan/play_request.h"
#include "streamsim/workload.h"

namespace streamsim::run {

/// The meters of a workload on seats [first, first + seats) of a run. The workload's steps, clients and
/// duration do not count.
std::vector<MeterPart> meters_of(const Workload& workload, std::uint32_t first, std::uint32_t seats);

/// The request that plays one step of a workload, with meters alone: `base` gives target, seed and how it is
/// read. REQUIRES: `step` is from at_step().
PlayRequest load_request(const Workload& step, const PlayRequest& base);

}  // namespace streamsim::run
