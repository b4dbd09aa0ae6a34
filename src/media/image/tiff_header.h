// TIFF files, classic and with 64-bit offsets (BigTIFF), both byte orders. Inside media/ only.
#pragma once

#include "base/result.h"
#include "media/image/header_bytes.h"
#include "media/image/image_header.h"

namespace streamsim::media {

/// The first directory of the file. Where its image is not compressed the expected length is the furthest byte
/// that it accounts for: strips or tiles, the directory and what it points at. With more than one directory
/// only the size of the file tells. Errors: bad input that names the byte.
Result<ImageHeader> read_tiff_header(HeaderBytes& bytes);

}  // namespace streamsim::media
