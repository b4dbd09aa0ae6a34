// Merges the results of the parts of one run over several computers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// Makes a result that of one rank of a run: `own` becomes its only seat, with the state, host, verdict, totals
/// and evidence of the result. The caller gives the rank, its seats, clock, start, node and journal. A run of
/// one computer is rank 0 of 1.
void become_part(const std::string& run_id, std::uint32_t ranks, SeatResult own, RunResult& result);

/// The name of a rank by its seats, for messages: as judge::seat_name.
std::string seat_name(const SeatResult& seat);

/// Merges the parts of one run, in any order: results of single ranks, journals that ranks left behind, results
/// that were merged already. Counts, digests, histograms and the percentiles that follow from them, drops,
/// seeks and meters are exact. Times are brought onto rank 0's axis by SeatResult::start_ns. Among several
/// documents about one rank the one that knows most counts. Events of one cause become one as merged_events()
/// says. Ranks without a document are listed as missing, and fail the verdict as one that died does.
/// merge(merge(a, b), c) is merge(a, b, c), but where an event joins two events of one computer: their streams
/// count twice, up to the number of streams in the merged document. Errors: bad input, every problem: parts of
/// different runs, results that belong to no run, streams without histograms, two ranks that played the same
/// seat, by streams or meters. `names` names the parts in them; else they are numbered.
Result<RunResult> merge_results(std::vector<RunResult> parts, const std::vector<std::string>& names = {});

}  // namespace streamsim::result
