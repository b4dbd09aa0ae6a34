// Decides whether the numbers of a document can be true at all, before they are shown to others.
#pragma once

#include "base/document/json.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// Notes counts that do not add up, and intervals that no run has. REQUIRES: no time is beyond kFarthestNs.
void check_plausible(const RunResult& result, JsonProblems& problems);

}  // namespace streamsim::result
