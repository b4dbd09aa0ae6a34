// TIFF files, classic and with 64-bit offsets (BigTIFF), both byte orders. Inside media/ only.
#pragma once

#include "base/result.h"
#include "media/image/header_bytes.h"
#include "media/image/image_header.h"

namespace streamsim::media {

/// Reads the first directory of the file. For an uncompressed image the expected length is the furthest byte
/// that the directory accounts for: strips or tiles, and the directory with its values. A file with more than
/// one directory has the length of the file. Errors: bad input that names the byte.
Result<ImageHeader> read_tiff_header(HeaderBytes& bytes);

}  // namespace streamsim::media
