// The seats of a run over several computers: which document speaks for which, and what they say together.
// Inside merging only.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "judge/seats.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// It lists every rank, and its times count from the agreed instant.
bool is_merged(const RunResult& result);

/// Who speaks for whom.
struct ChosenParts {
    std::vector<RunResult> parts;   // that speak for the ranks whose play is in them, each rank in one, by rank
    std::vector<SeatResult> seats;  // one for each rank
};
/// At least one part. REQUIRES: parts of one run. Errors: bad input: a rank is in a merged document, and a
/// better one of it is beside that.
Result<ChosenParts> choose_parts(std::vector<RunResult> parts);

}  // namespace streamsim::result
