// The facts of one clip that `streamsim inspect` shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// The audio that lies beside the frames, where the index has it.
struct AudioFacts {
    std::uint64_t chunks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t chunk_bytes_max = 0;
};

struct InspectFacts {
    std::uint64_t frames = 0;  // slots, those without a file included
    std::uint64_t frames_missing = 0;
    FrameRate rate;
    bool variable_rate = false;
    Duration duration;
    std::string timecode;           // of the duration, "00:00:10:00"; counted as the clip's time code is
    std::string start_timecode;     // of the first frame; empty: not known, or not a time of day
    std::string end_timecode;       // of the last frame; 00:00:00:00 again behind midnight
    std::uint64_t bytes_total = 0;  // of the frames that are there
    std::uint64_t frame_bytes_min = 0;
    double frame_bytes_mean = 0;
    std::uint64_t frame_bytes_p99 = 0;  // nearest rank
    std::uint64_t frame_bytes_max = 0;
    double bytes_per_s = 0;              // on average, at the clip's rate
    std::uint64_t frames_unaligned = 0;  // that do not begin at a multiple of kAlignment in their file
    std::string layout;                  // "a file a frame", "one file, frames back to back", ...
    std::string structure;               // of a container: Clip::structure
    std::string interleave;              // how the frames lie among other bytes; empty where nothing is between
    AudioFacts audio;
    std::string first_path;  // of the file of frame 0
    std::string last_path;
    std::vector<std::string> notes;     // the clip's, all of them
    std::vector<std::string> warnings;  // what makes reading or timing harder than it looks
};

/// What direct I/O reads without reading more, in bytes.
inline constexpr std::uint64_t kAlignment = 4096;

/// Pure: reads the index, not the files.
InspectFacts inspect(const Clip& clip);

}  // namespace streamsim::media
