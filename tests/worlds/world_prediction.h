// The fate of each frame of a world from first principles (tests/sim/predictor.h), where the storage is simple
// enough: every read takes the time that the faults say, and nothing else takes any.
#pragma once

#include <string>
#include <vector>

#include "worlds/invariants.h"

namespace streamsim::worlds {

/// Frames whose fate or instants are not those of the prediction, a sentence each; empty also where the world
/// cannot be predicted.
std::vector<std::string> compare_with_prediction(const Seen& seen);

}  // namespace streamsim::worlds
