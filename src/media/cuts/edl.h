// CMX3600 edit decision lists, as the field writes them. Inside media/ only.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "media/cuts/edit_list.h"

namespace streamsim::media {

/// Reads the events that have a picture; those with sound only are counted in a note. Comments and lines of
/// unknown kinds are passed over. Errors: bad input with every malformed event, each with its line.
Result<EditList> parse_edl(std::string_view text, const std::string& source);

}  // namespace streamsim::media
