// The parts of a run on one time axis: rank 0's clock, zero at the instant that was agreed on. Inside merging
// only.
#pragma once

#include <cstdint>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::result {

/// A part's own times count from its first play_start; afterwards from the agreed instant.
void onto_common_axis(RunResult& part);

/// Parts on the common axis. Intervals of different lengths are brought to the longest; what was read before
/// play is one entry, as long as the longest preroll.
std::vector<TimelineEntry> merged_timeline(const std::vector<RunResult>& parts);
/// From the first submit of any part to the last completion of any.
std::int64_t merged_wall_ns(const std::vector<RunResult>& parts);
/// The most that streams which play at one time require together.
double most_required(const std::vector<StreamResult>& streams);

}  // namespace streamsim::result
