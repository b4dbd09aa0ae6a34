// The values of OpenTimelineIO documents. Inside media/ only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/document/json.h"
#include "base/time.h"

namespace streamsim::media {

inline constexpr double kOtioRateMax = 100'000;

/// A rate as OpenTimelineIO writes it, a decimal number of 1 to kOtioRateMax: 23.976 and 23.98 mean 24000/1001.
/// Empty outside of that range.
std::optional<FrameRate> otio_rate(double value);

/// JSON with the numbers that OpenTimelineIO writes beyond it (Inf, Infinity, -Infinity, NaN) as empty strings,
/// with spaces behind them: each byte stays in its place.
std::string without_infinities(std::string_view text);

/// The path in a media URL: without "file://" and a host, percent-decoded, with slashes. A percent sign of a
/// pattern ("%04d") stays.
std::string path_in_url(std::string_view url);

/// Null where the value has no such member.
const Json& member(const Json& value, const char* key);

/// Empty where the value has no such text.
std::string text_of(const Json& value, const char* key);

/// Empty unless `value` is a number that is a rate.
std::optional<FrameRate> rate_of(const Json& value);

/// "Clip" of "Clip.2"; names of old versions as those of today.
std::string schema_of(const Json& value);

/// True unless it says otherwise.
bool is_enabled(const Json& value);

/// The reel that the reader of CMX 3600 lists keeps in the metadata.
std::string reel_of(const Json& value);

/// The media reference of a clip that counts (null: none), and its pointer. `pointer`: of the clip.
std::pair<const Json*, std::string> active_reference(const Json& clip, const std::string& pointer);

}  // namespace streamsim::media
