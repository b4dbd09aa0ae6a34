// Sentences about storage that vanished and about resources that this computer lacked. Inside judge/ only.
#pragma once

#include <string>
#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// Each function fills in summary and detail. `missed`: the frames of the cause.
void describe_gone(CauseResult& cause, const std::vector<const MissedFrame*>& missed, const Evidence& evidence);
void describe_memory(CauseResult& cause,
                     const std::vector<const MissedFrame*>& missed,
                     const Evidence& evidence);
void describe_resources(CauseResult& cause, const std::vector<const MissedFrame*>& missed);
/// Fills in the cause where lack of memory is possible and not certain; else returns false. `what`: the missed
/// frames, in words.
bool describe_unknown_memory(CauseResult& cause,
                             const std::vector<const MissedFrame*>& missed,
                             const Evidence& evidence,
                             const std::string& what);

/// The advice for these causes; empty: it is another cause.
std::string next_of_shortage(Cause cause);

}  // namespace streamsim::judge
