// One track of a QuickTime or MP4 header. Pure. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "media/container/mov_boxes.h"
#include "media/container/sample_entry.h"
#include "media/container/sample_table.h"

namespace streamsim::media {

struct MovEdit {
    std::int64_t length = 0;  // in ticks of the movie, at least 1
    std::int64_t begin = 0;   // in ticks of the track; -1: nothing is shown
};

struct MovTrack {
    std::uint32_t ticks_per_second = 0;  // at least 1
    std::int64_t length = 0;             // in its ticks, as its header says
    std::vector<MovEdit> edits;
    SampleEntry entry;
    SampleTable table;
};

/// `trak`: the body of the box. Empty for a track of another kind than video, audio and time code, and for one
/// with a box or a value that is not known here.
std::optional<MovTrack> read_mov_track(Bytes trak);

}  // namespace streamsim::media
