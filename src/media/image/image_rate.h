// Frame rates as the headers of images write them. Inside media/ only.
#pragma once

#include <optional>

#include "base/time.h"

namespace streamsim::media {

/// The exact rate of a decimal number of frames a second: headers write 23.976, 23.98 or 23.97602 for
/// 24000/1001. Empty when the number is no rate: not finite, below 0.01 or above 1000.
std::optional<FrameRate> rate_from(double frames_per_s);

}  // namespace streamsim::media
