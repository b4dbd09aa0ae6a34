// The servers in the result of a run.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "run/conclude/run_facts.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// One entry for each node, in the order of their addresses.
std::vector<ServerResult> server_results(const RunFacts& facts);

/// The same from the traffic of each storage, and the frames that each seat has read.
std::vector<ServerResult> server_results(const std::vector<std::vector<ServerTraffic>>& storages,
                                         const std::map<std::uint32_t, std::uint64_t>& frames_read);

}  // namespace streamsim::run
