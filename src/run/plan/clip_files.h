// The files of clips.
#pragma once

#include <cstdint>

#include "streamsim/media.h"

namespace streamsim::run {

inline std::uint64_t files_in(const Clip& clip) {
    return clip.index->file_per_frame() ? clip.index->count() : 1;
}

}  // namespace streamsim::run
