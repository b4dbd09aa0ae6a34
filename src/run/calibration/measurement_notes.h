// Notes on a measurement that follow from its rows alone. Pure.
#pragma once

#include <string>
#include <vector>

#include "streamsim/calibration.h"

namespace streamsim::run {

/// Sentences: operations that failed, load that changed meanwhile, caches, and writes that are not described.
std::vector<std::string> measurement_notes(const Measurement& measured);

}  // namespace streamsim::run
