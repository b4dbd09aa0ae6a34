// The rate that a model delivers at most. When more is asked of it than it has, frames are passed over, and
// what is left of the rate says nothing about the cluster. So its streams are played again in virtual time
// without deadlines: 1, 2, 4, ... of them, until the rate rises no more. That rate is the same however many
// streams were asked for beyond it.
#pragma once

#include <functional>
#include <optional>

#include "run/session/session.h"

namespace streamsim::run {

/// `request` plays `parts` with planned media on a model; those of a scenario are played all at once. nullopt:
/// it has meters, recorders or faults, which the rate would not be about; or `cancelled` came true. Blocks.
std::optional<ProbeResult> model_rate(const PlayRequest& request,
                                      const std::vector<PlayPart>& parts,
                                      const ProgramFacts& program,
                                      const std::function<bool()>& cancelled);

}  // namespace streamsim::run
