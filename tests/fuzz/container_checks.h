// The properties of indexed containers.
#pragma once

#include "fuzz/fuzz.h"
#include "streamsim/media.h"

namespace streamsim::fuzz {

/// REQUIRES: the index was made with audio, or has none.
inline void require_index(const FrameIndex& index) {
    require(index.count() > 0, "a clip has frames");
    require(index.rate().num > 0 && index.rate().den > 0, "a rate is above 0");
    require(!index.file_per_frame(), "the frames of a container are in one file");
    require(index.due(0) == Duration{}, "the first frame is due at 0");
    for (std::uint64_t k = 0; k < index.count(); ++k) {
        const Extent extent = index.extent(k);
        require(extent.bytes > 0 && extent.bytes <= index.largest_frame_bytes(), "a frame has bytes");
        require(extent.offset <= UINT64_MAX / 2 && extent.bytes <= UINT64_MAX / 2,
                "a frame lies where files can be");
        require(index.sync_frame(k) <= k, "decoding begins before a frame");
        require(index.sync_frame(index.sync_frame(k)) == index.sync_frame(k),
                "decoding begins at a sync frame");
        require(index.due(k) < index.due(k + 1), "times rise");
        std::uint64_t audio = 0;
        for (const Extent& chunk : index.audio(k)) audio += chunk.bytes;
        require(audio <= index.largest_audio_bytes(), "no frame has more audio than the largest");
    }
}

}  // namespace streamsim::fuzz
