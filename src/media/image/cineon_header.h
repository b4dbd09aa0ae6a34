// Cineon files, the predecessor of DPX. Inside media/ only.
#pragma once

#include "base/result.h"
#include "media/image/header_bytes.h"
#include "media/image/image_header.h"

namespace streamsim::media {

/// Errors: bad input that names the byte.
Result<ImageHeader> read_cineon_header(HeaderBytes& bytes);

}  // namespace streamsim::media
