// The parts of a modelled cluster, or the servers, in a result.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "judge/judge.h"
#include "play/ledger.h"
#include "run/conclude/result_builder.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// The parts of the modelled cluster over play, and how busy they were around the frames that were missed.
/// Nothing where there is no cluster or nothing was played. `ledgers` are those of all streams.
std::vector<PartResult> part_results(const PlaybackLoop& playback_loop,
                                     const std::vector<const play::DeadlineLedger*>& ledgers);

/// The same for the judge: without the parts of seats that missed nothing.
std::vector<judge::BusyPart> busy_parts(const std::vector<PartResult>& parts,
                                        const std::vector<StreamResult>& streams);

/// The servers: one entry for each node, in the order of their addresses.
std::vector<ServerResult> server_results(const RunFacts& facts);

/// The same from the traffic of each storage, and the frames that each seat has read.
std::vector<ServerResult> server_results(const std::vector<std::vector<ServerTraffic>>& storages,
                                         const std::map<std::uint32_t, std::uint64_t>& frames_read);

}  // namespace streamsim::run
