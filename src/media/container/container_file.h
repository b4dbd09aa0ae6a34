// The frame index of one file that holds all frames. Inside media/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "streamsim/media.h"

namespace streamsim::media {

/// The facts about the frames of a container, in stored order.
struct ContainerFrames {
    FrameRate rate;
    std::vector<Extent> extents;       // at least one
    std::vector<std::uint32_t> sync;   // sync_frame of each; empty: each frame itself
    std::vector<std::int64_t> due_ns;  // variable rate: due(0) = 0 ... due(count()), rising; else empty
    std::vector<Extent> audio;         // chunks, those of one frame together
    std::vector<std::uint32_t>
        audio_begin;  // first index in `audio` of each frame, and the end: count + 1 values; or empty
};

/// REQUIRES: as the members say.
std::shared_ptr<const FrameIndex> make_container_index(std::string path, ContainerFrames frames);

/// A constant rate, frames that need no other, no audio. REQUIRES: extents is not empty.
std::shared_ptr<const FrameIndex> make_container_index(std::string path,
                                                       FrameRate rate,
                                                       std::vector<Extent> extents);

}  // namespace streamsim::media
