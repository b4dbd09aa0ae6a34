// What the network's causes say. Inside judge/ only.
#pragma once

#include <string>
#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// Fills in what is said of Cause::network_loss and network_down. `what`: the frames that were missed, in
/// words.
void describe_path(CauseResult& cause,
                   const std::vector<const MissedFrame*>& missed,
                   const Evidence& evidence,
                   const std::string& what);

/// Of a server that gave no stream a byte: how its host answered meanwhile; empty where none is known.
std::string host_answers(const std::vector<const MissedFrame*>& missed, const Evidence& evidence);

/// Which of these were missed in a time in which no stream was given a byte.
bool in_silence(const std::vector<const MissedFrame*>& missed, const Evidence& evidence);

}  // namespace streamsim::judge
