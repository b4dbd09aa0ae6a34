// The files of clips.
#pragma once

#include <cstdint>
#include <string>

#include "streamsim/media.h"

namespace streamsim::run {

/// The file that holds frame `frame` of a clip.
inline std::string file_of(const FrameIndex& index, std::uint64_t frame) {
    std::string path(index.path_capacity(), '\0');
    index.write_path(frame, path.data());
    path.resize(path.find('\0'));
    return path;
}

inline std::uint64_t files_in(const Clip& clip) {
    return clip.index->file_per_frame() ? clip.index->count() : 1;
}

}  // namespace streamsim::run
