// The seats of a run over several computers: chooses the document that speaks for each of them. Inside merging
// only.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// True of a result that lists every rank; its times count from the agreed instant.
bool is_merged(const RunResult& result);

/// "seat 2 (host h3)", "seats 4 to 5 (host h3)"; "rank 2" where its seats are not known.
std::string seat_name(const SeatResult& seat);

/// The documents that speak for the ranks of a run.
struct ChosenParts {
    std::vector<RunResult> parts;   // each rank whose play is known is in one of them; by rank
    std::vector<SeatResult> seats;  // one for each rank
};
/// Chooses at least one part. REQUIRES: parts of one run. Errors: bad input: a rank is in a merged document,
/// and a better document about it is beside that.
Result<ChosenParts> choose_parts(std::vector<RunResult> parts);

/// Passes when every seat does and none has vanished. Names those that do not.
Verdict verdict_of_seats(const std::vector<SeatResult>& seats);

}  // namespace streamsim::result
