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

}  // namespace streamsim::media
