// OpenTimelineIO documents (.otio JSON). Inside media/ only.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "media/cuts/edit_list.h"

namespace streamsim::media {

/// Reads what is shown: the topmost enabled clip of the video tracks at each frame. Schemas of unknown kinds
/// are passed over where they do not matter. Errors: bad input with every problem, each with its JSON pointer.
Result<EditList> parse_otio(std::string_view text, const std::string& source);

}  // namespace streamsim::media
