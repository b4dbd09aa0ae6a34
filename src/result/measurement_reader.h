// Reads the raw rows of a calibration (Measurement).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "streamsim/calibration.h"

namespace streamsim::result {

/// Reads "streamsim.measurement", version 1, strictly. Errors: bad input with every problem.
Result<Measurement> read_measurement(std::string_view text, const std::string& source);

}  // namespace streamsim::result
