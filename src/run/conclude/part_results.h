// The parts of a modelled cluster in a result.
#pragma once

#include <vector>

#include "judge/judge.h"
#include "play/ledger.h"
#include "run/playback/playback_loop.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// The parts of the modelled cluster over play, and how busy they were around the frames that were missed.
/// Nothing where there is no cluster or nothing was played. `ledgers` are those of all streams.
std::vector<PartResult> part_results(const PlaybackLoop& playback_loop,
                                     const std::vector<const play::DeadlineLedger*>& ledgers);

/// The same for the judge: without the parts of seats that missed nothing.
std::vector<judge::BusyPart> busy_parts(const std::vector<PartResult>& parts,
                                        const std::vector<StreamResult>& streams);

}  // namespace streamsim::run
