// Whether what a document says can be true at all, before it is shown to others.
#pragma once

#include <cstdint>

#include "base/document/json.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// Times in a document are no further than this from where they count from: 73 years. So two can be added.
inline constexpr std::int64_t kFarthestNs = INT64_MAX / 4;

/// Notes counts that do not add up, and intervals that no run has. REQUIRES: no time is beyond kFarthestNs.
void check_stats(const RunResult& result, JsonProblems& problems);

}  // namespace streamsim::result
