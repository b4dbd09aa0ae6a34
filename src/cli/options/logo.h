// The logo of a project: an image file as a data URI.
#pragma once

#include <string>

#include "base/result.h"

namespace streamsim::cli {

/// "data:image/png;base64,..." of a PNG, JPEG or SVG file of at most 512 KiB. Errors: bad input that names the
/// file, when it is missing, unreadable, too large, or of another kind.
Result<std::string> logo_uri(const std::string& path);

}  // namespace streamsim::cli
