// The frame index of media that exists only as a plan: what null storage and modelled clusters play, and what
// `prepare` then writes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "streamsim/media.h"

namespace streamsim::media {

/// Offset of the first frame in a planned file, and in MXF the bytes before each frame, as FFmpeg 5.1 writes
/// them. A prepared file has an index of its own.
inline constexpr std::uint64_t kMp4DataOffset = 48;     // ftyp, free, the head of mdat
inline constexpr std::uint64_t kMxfHeaderBytes = 6144;  // partitions, metadata, the first system item
inline constexpr std::uint64_t kMxfKeyBytes = 20;       // key and length of a frame
inline constexpr std::uint64_t kMxfSystemBytes = 512;   // the system item before the next frame
inline constexpr std::uint64_t kMxfGrid = 512;          // each content package begins on it

/// The clip that `prepare` would write with the same arguments. `path` is the directory of a sequence (its
/// frames are named as prepared ones are) or the container file. REQUIRES: frames > 0.
std::shared_ptr<const FrameIndex> planned_index(const MediaFormat& format,
                                                std::uint64_t frames,
                                                std::uint64_t seed,
                                                std::uint32_t clip,
                                                const std::string& path);

}  // namespace streamsim::media
