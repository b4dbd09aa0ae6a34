// Sentences about the network. Inside judge/ only.
#pragma once

#include <string>
#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// Fills in summary and detail of Cause::network_loss and network_down. `what`: the missed frames, in words.
void describe_path(CauseResult& cause,
                   const std::vector<const MissedFrame*>& missed,
                   const Evidence& evidence,
                   const std::string& what);

/// How the host of a server answered while no stream received data; empty: it did not, or that is not known.
std::string host_answers(const std::vector<const MissedFrame*>& missed, const Evidence& evidence);

/// True: some of these frames were missed in a throughput gap.
bool in_throughput_gap(const std::vector<const MissedFrame*>& missed, const Evidence& evidence);

}  // namespace streamsim::judge
