// The facts of one clip that `streamsim inspect` shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// The audio chunks of the index, if it has any.
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
    std::string timecode;           // duration as time code, "00:00:10:00", counted like the clip's own
    std::string start_timecode;     // first frame; empty: unknown, or no time of day
    std::string end_timecode;       // last frame; wraps to 00:00:00:00 at midnight
    std::uint64_t bytes_total = 0;  // sum over the existing frames
    std::uint64_t frame_bytes_min = 0;
    double frame_bytes_mean = 0;
    std::uint64_t frame_bytes_p99 = 0;  // nearest rank
    std::uint64_t frame_bytes_max = 0;
    double bytes_per_s = 0;              // on average, at the clip's rate
    std::uint64_t frames_unaligned = 0;  // frames whose offset is no multiple of kAlignment
    std::string layout;                  // "a file a frame", "one file, frames back to back", ...
    std::string structure;               // container only: Clip::structure
    std::string interleave;              // other bytes between the frames; empty: none
    AudioFacts audio;
    std::string first_path;  // file of frame 0
    std::string last_path;
    std::vector<std::string> notes;     // the clip's, all of them
    std::vector<std::string> warnings;  // properties that make reading or timing harder
};

/// The label of a frame that is counted from 00:00:00:00, as the clip's own time code has it.
std::string clip_timecode(const Clip& clip, std::uint64_t frame);

/// Alignment of direct I/O, in bytes.
inline constexpr std::uint64_t kAlignment = 4096;

/// Pure: reads the index, not the files.
InspectFacts inspect(const Clip& clip);

}  // namespace streamsim::media
