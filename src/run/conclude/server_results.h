// From what the storages of all worlds exchanged with their servers to the servers of a result.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "run/conclude/result_builder.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// One entry a node, in the order of their addresses.
std::vector<ServerResult> server_results(const RunFacts& facts);

/// The same from its parts: what each storage exchanged, and by seat the frames that it has read.
std::vector<ServerResult> server_results(const std::vector<std::vector<ServerTraffic>>& storages,
                                         const std::map<std::uint32_t, std::uint64_t>& frames_read);

}  // namespace streamsim::run
