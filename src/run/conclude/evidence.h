// From the facts of a run to the evidence of its verdict.
#pragma once

#include <vector>

#include "judge/evidence.h"
#include "run/conclude/run_facts.h"

namespace streamsim::run {

/// `result` has its totals, streams, drops, media, client and parts. The missed frames are in the order of
/// result.drops, then the stalls.
judge::Evidence evidence_of(const RunFacts& facts,
                            const std::vector<const play::DeadlineLedger*>& ledgers,
                            const RunResult& result);

/// True: a frame of this stream failed because this computer had no descriptor, port or memory left.
bool client_lacked_anything(const play::DeadlineLedger* ledger);

}  // namespace streamsim::run
