// The headers and the padding of DPX files that prepare writes. Inside media/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "media/frames/payload.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// The significant bits of the image.
PayloadMask dpx_payload_mask(const DpxLayout& layout);

/// Zeroes the padding at the end of each line in a piece of the image. `position` is the offset of the piece in
/// the image in bytes, a multiple of 4 as its length is (but at the end of the image).
void zero_dpx_line_ends(std::span<std::byte> piece, std::uint64_t position, const MediaFormat& format);

/// Writes the header of frame `number` into `into` (layout.image_offset bytes; the rest is zero). `file` is the
/// name of the file without its directory. The time code counts from 00:00:00:00 at frame `first`.
/// Deterministic: there is no creation time in it. REQUIRES: into.size() == format.dpx.image_offset >=
/// kDpxHeaderBytes.
void write_dpx_header(std::span<std::byte> into,
                      const MediaFormat& format,
                      const std::string& file,
                      std::uint64_t number,
                      std::uint64_t first);

}  // namespace streamsim::media
