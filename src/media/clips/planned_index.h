// The frame index of media that exist only as a plan: null storage and modelled clusters play them, and
// `prepare` writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "streamsim/media.h"

namespace streamsim::media {

/// Offset of the first frame in a QuickTime file that streamsim writes, in bytes.
inline constexpr std::uint64_t kQuickTimeDataOffset = 36;
/// The same, and in MXF the offset of its key, for each container, as FFmpeg 5.1 writes them. A prepared file
/// has an index of its own.
std::uint64_t essence_offset(MediaFormat::Container container);

/// The clip that `prepare` would write with the same arguments. `path` is the directory of a sequence (its
/// frames are named as prepared ones are) or the container file. REQUIRES: frames > 0.
std::shared_ptr<const FrameIndex> planned_index(const MediaFormat& format,
                                                std::uint64_t frames,
                                                std::uint64_t seed,
                                                std::uint32_t clip,
                                                const std::string& path);

}  // namespace streamsim::media
