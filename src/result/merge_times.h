// Intervals of the time line, and the parts of a run on one time axis: rank 0's clock, zero at the agreed
// instant.
#pragma once

#include <cstdint>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::result {

/// Times of the part, which count from its own beginning, count from the agreed instant afterwards.
void onto_common_axis(RunResult& part);

/// REQUIRES: parts on the common axis. Intervals of different lengths are brought to the longest; reads before
/// play are one entry, as long as the longest preroll.
std::vector<TimelineEntry> merged_timeline(const std::vector<RunResult>& parts);
/// From the first submit of any part to the last completion of any; without streams, the longest time of a
/// meter.
std::int64_t merged_wall_ns(const std::vector<RunResult>& parts);
/// The most that streams which play at one time require together, recorders left out.
double most_required(const std::vector<StreamResult>& streams);

}  // namespace streamsim::result
