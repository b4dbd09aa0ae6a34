// Merges the causes that missed frames are attributed to. Inside merging only.
#pragma once

#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::result {

/// Puts the name of the seat before the sentences of a part.
void name_causes(RunResult& part);

/// One entry for each cause and limit; frames and stalls add up, and the sentences are those of the seat that
/// lost most frames to the cause, by the drop tables. The cause that cost most comes first. Parts by rank.
std::vector<CauseResult> merged_causes(const std::vector<RunResult>& parts);

/// Takes over the answer of the part that says most.
void merge_places(const PlaceTest& from, PlaceTest& to);

}  // namespace streamsim::result
