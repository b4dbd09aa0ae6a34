// From books, computer and findings to what the judge sees.
#pragma once

#include <vector>

#include "judge/evidence.h"
#include "run/conclude/result_builder.h"

namespace streamsim::run {

/// `result` has its totals, streams, drops, media, client and parts. Missed frames come in the order of
/// result.drops; behind them the stalls.
judge::Evidence evidence_of(const RunFacts& facts,
                            const std::vector<const play::DeadlineLedger*>& ledgers,
                            const RunResult& result);

/// A frame of this stream failed as this computer had no descriptor, port or memory left.
bool client_lacked_anything(const play::DeadlineLedger* ledger);

}  // namespace streamsim::run
