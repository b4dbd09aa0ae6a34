// The readers of single kinds of edit lists; cut_list.cc chooses. Inside media/ only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "media/cuts/edit_list.h"

namespace streamsim::media {

/// A CMX3600 edit decision list, as the field writes them: the events that have a picture; those with sound
/// only are counted in a note. Comments and lines of unknown kinds are passed over. Errors: bad input with
/// every malformed event, each with its line.
Result<EditList> parse_edl(std::string_view text, const std::string& source);

/// An OpenTimelineIO document (.otio JSON): what is shown, the topmost enabled clip of the video tracks at each
/// frame. Schemas of unknown kinds are passed over where they do not matter. Errors: bad input with every
/// problem, each with its JSON pointer.
Result<EditList> parse_otio(std::string_view text, const std::string& source);

inline constexpr double kOtioRateMax = 100'000;

/// A rate as OpenTimelineIO writes it, a decimal number of 1 to kOtioRateMax: 23.976 and 23.98 mean 24000/1001.
/// Empty outside of that range.
std::optional<FrameRate> otio_rate(double value);

/// The path in a media URL: without "file://" and a host, percent-decoded, with slashes. A percent sign of a
/// pattern ("%04d") stays.
std::string path_in_url(std::string_view url);

}  // namespace streamsim::media
