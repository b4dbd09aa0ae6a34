// Values as OpenTimelineIO writes them. Inside media/ only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace streamsim::media {

inline constexpr double kOtioRateMax = 100'000;

/// A rate as a decimal number, 1 to kOtioRateMax: 23.976 and 23.98 mean 24000/1001. Empty outside of that
/// range.
std::optional<FrameRate> otio_rate(double value);

/// The path in a media URL: without "file://" and a host, percent-decoded, with slashes. A percent sign of a
/// pattern ("%04d") stays.
std::string path_in_url(std::string_view url);

}  // namespace streamsim::media
