// What missed frames are booked to, over the parts of a run. Inside merging only.
#pragma once

#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::result {

/// The sentences of one part say whose they are.
void name_causes(RunResult& part);

/// By cause and whose it is; frames and stalls add up, and the sentences are those of the seat that lost most
/// frames to it, by the drop tables. The one that cost most comes first. Parts by rank.
std::vector<CauseResult> merged_causes(const std::vector<RunResult>& parts);

/// The answer that says most, of any part.
void merge_places(const PlaceTest& from, PlaceTest& to);

}  // namespace streamsim::result
