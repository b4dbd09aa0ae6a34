// Plans the size of each frame of a clip that does not exist yet.
#pragma once

#include <cstdint>
#include <vector>

#include "streamsim/media.h"

namespace streamsim::media {

/// The size in bytes of each of `frames` frames of clip `clip` of a run with `seed`, in stored order. The sum
/// is the format's mean times `frames`, rounded to a byte (a table: its sizes over and over, whatever their
/// sum); no frame is above cap x mean, none below frame_bytes_min (frame_maker.h). The same arguments give the
/// same sizes with every compiler. REQUIRES: frames > 0, a format that read_format_document accepts.
std::vector<std::uint32_t> plan_frame_bytes(const MediaFormat& format,
                                            std::uint64_t frames,
                                            std::uint64_t seed,
                                            std::uint32_t clip);

}  // namespace streamsim::media
