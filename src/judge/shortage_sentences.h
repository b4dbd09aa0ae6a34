// Sentences about storage that vanished and about what this computer lacked. Inside judge/ only.
#pragma once

#include <string>
#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// Each fills summary and detail. `missed`: the frames of the cause.
void describe_gone(CauseResult& cause, const std::vector<const MissedFrame*>& missed, const Evidence& evidence);
void describe_memory(CauseResult& cause,
                     const std::vector<const MissedFrame*>& missed,
                     const Evidence& evidence);
void describe_resources(CauseResult& cause, const std::vector<const MissedFrame*>& missed);
/// False: memory is not what is unknown. `what` was missed.
bool describe_unknown_memory(CauseResult& cause,
                             const std::vector<const MissedFrame*>& missed,
                             const Evidence& evidence,
                             const std::string& what);

/// What to do about it; empty: it is none of these causes.
std::string next_of_shortage(Cause cause);

}  // namespace streamsim::judge
