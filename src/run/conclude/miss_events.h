// The events of a run: its missed frames and stalls, with what is known of the storage, the network and this
// computer meanwhile.
#pragma once

#include <vector>

#include "run/conclude/result_builder.h"

namespace streamsim::run {

/// By time. `causes`: of evidence.missed. `origin`: the first play_start. `result` has its drops, streams,
/// timeline, throughput gaps and parts.
std::vector<MissEvent> miss_events(const RunFacts& facts,
                                   const judge::Evidence& evidence,
                                   const std::vector<Cause>& causes,
                                   Instant origin,
                                   const RunResult& result);

}  // namespace streamsim::run
