// The seats of a run over several computers: chooses the document that speaks for each of them. Inside merging
// only.
#pragma once

#include <vector>

#include "base/result.h"
#include "judge/run_verdicts.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// True of a result that lists every rank; its times count from the agreed instant.
bool is_merged(const RunResult& result);

/// The documents that speak for the ranks of a run.
struct ChosenParts {
    std::vector<RunResult> parts;   // each rank whose play is known is in one of them; by rank
    std::vector<SeatResult> seats;  // one for each rank
};
/// Chooses at least one part. REQUIRES: parts of one run. Errors: bad input: a rank is in a merged document,
/// and a better document about it is beside that.
Result<ChosenParts> choose_parts(std::vector<RunResult> parts);

}  // namespace streamsim::result
