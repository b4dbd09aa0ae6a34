// OpenEXR headers: scan lines and tiles, one part or several, every compression. Inside media/ only.
#pragma once

#include "base/result.h"
#include "media/image/header_bytes.h"
#include "media/image/image_header.h"

namespace streamsim::media {

/// Without compression the expected length is exact: header, offset tables and chunks, by the data window, the
/// channels and the tiles. Errors: bad input that names the byte.
Result<ImageHeader> read_exr_header(HeaderBytes& bytes);

}  // namespace streamsim::media
