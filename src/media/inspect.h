// The facts of one clip that `streamsim inspect` shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/media.h"

namespace streamsim {

struct InspectFacts {
    std::uint64_t frames = 0;
    FrameRate rate;
    Duration duration;
    std::string timecode;  // of the duration, "00:00:10:00"
    std::uint64_t bytes_total = 0;
    std::uint64_t frame_bytes_min = 0;
    double frame_bytes_mean = 0;
    std::uint64_t frame_bytes_p99 = 0;  // nearest rank
    std::uint64_t frame_bytes_max = 0;
    double bytes_per_s = 0;  // on average, at the clip's rate
    std::string layout;      // "a file a frame", "one file, frames back to back", ...
    std::string first_path;  // of the file of frame 0
    std::string last_path;
    std::vector<std::string> notes;
};

/// Pure: reads the index, not the files.
InspectFacts inspect(const Clip& clip);

}  // namespace streamsim
