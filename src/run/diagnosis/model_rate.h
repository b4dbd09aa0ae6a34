// The rate that a model delivers at most. When more is required than the model has, frames are dropped, and the
// delivered rate says nothing about the cluster. Therefore its streams play again in virtual time without
// deadlines: 1, 2, 4, ... of them, until the rate rises no more. That rate does not depend on how many more
// streams were required.
#pragma once

#include <optional>
#include <vector>

#include "run/diagnosis/diagnosis.h"
#include "run/plan/play_part.h"

namespace streamsim::run {

/// `request` plays `parts` with planned media on a model; the streams of a scenario play all at once. nullopt:
/// the request has meters, recorders or faults, for which the rate would say nothing; or `control` was
/// interrupted. Blocks.
std::optional<ProbeResult> model_rate(const PlayRequest& request,
                                      const std::vector<PlayPart>& parts,
                                      const DiagnosisControl& control);

}  // namespace streamsim::run
