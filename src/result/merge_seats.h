// The seats of a run over several computers: which document speaks for which, and what they say together.
// Inside merging only.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// It lists every rank, and its times count from the agreed instant.
bool is_merged(const RunResult& result);

/// "seat 2 (host h3)", "seats 4 to 5 (host h3)"; "rank 2" where it is not known what it played.
std::string seat_name(const SeatResult& seat);

/// Who speaks for whom.
struct ChosenParts {
    std::vector<RunResult> parts;   // that speak for the ranks whose play is in them, each rank in one, by rank
    std::vector<SeatResult> seats;  // one for each rank
};
/// At least one part. REQUIRES: parts of one run. Errors: bad input: a rank is in a merged document, and a
/// better one of it is beside that.
Result<ChosenParts> choose_parts(std::vector<RunResult> parts);

/// Passes when every seat does and none has vanished. Names those that do not.
Verdict verdict_of_seats(const std::vector<SeatResult>& seats);

}  // namespace streamsim::result
