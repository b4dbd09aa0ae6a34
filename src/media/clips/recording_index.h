// The frame index of a recording: what a recorder writes, as many frames as it has time for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "streamsim/media.h"

namespace streamsim::media {

/// Frames of a format that a recorder keeps in memory and writes over and over: enough of them that their
/// sizes vary as the format's do, and not many bytes.
std::uint32_t distinct_frames(const MediaFormat& format);

/// The frames of a recording, as many as there are numbers: frame i has the size of i % distinct_frames(). A
/// sequence is a directory, a container a file: `path` and its extension. Frames of a container begin at
/// multiples of `alignment`.
std::shared_ptr<const FrameIndex> recording_index(const MediaFormat& format,
                                                  std::uint64_t seed,
                                                  std::uint32_t alignment,
                                                  const std::string& path);

}  // namespace streamsim::media
