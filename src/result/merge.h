// Results of the parts of one run over several computers, put together to the result of the whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// Makes a result that of one rank of a run: it has `own` as its only seat, filled in from the rest of the
/// result: state, host, verdict, totals and what is measured of the computer. The caller gives the rank, its
/// seats, clock, start, node and journal. A run of one computer is rank 0 of 1.
void become_part(const std::string& run_id, std::uint32_t ranks, SeatResult own, RunResult& result);

/// One result of the parts of one run, in any order: results of single ranks, journals that ranks left behind,
/// results that were merged already. Exact: counts, digests, histograms and the percentiles that follow from
/// them, drops, seeks. Times are brought onto rank 0's axis by SeatResult::start_ns. Of several documents about
/// one rank the one that knows most counts. Ranks of which there is none are listed as missing, and fail the
/// verdict as one that died does. merge(merge(a, b), c) is merge(a, b, c).
/// Errors: bad input, every problem: parts of different runs, results that belong to no run, streams without
/// histograms, two ranks that played the same seat. `names`: of the parts, for these; else they are numbered.
Result<RunResult> merge_results(std::vector<RunResult> parts, const std::vector<std::string>& names = {});

}  // namespace streamsim::result
