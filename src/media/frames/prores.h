// ProRes frames (SMPTE RDD 36) of exactly the length that was planned. A frame holds a small, valid picture:
// flat grey blocks, a little different in each frame, which decoders show without complaint. The rest of the
// frame, nearly all of it, is stuffing behind the picture, and random: the sizes are those of real footage, and
// nothing in the storage can compress them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "streamsim/media.h"

namespace streamsim::media {

/// The smallest frame in bytes: headers and the picture, for the format's raster and sampling.
std::uint64_t prores_frame_bytes_min(const MediaFormat& format);

/// Builds one frame of exactly `into.size()` bytes; `key` makes its data unique. REQUIRES:
/// prores_frame_bytes_min(format) <= into.size() < 2^32.
void build_prores_frame(std::span<std::byte> into, const MediaFormat& format, std::uint64_t key);

}  // namespace streamsim::media
