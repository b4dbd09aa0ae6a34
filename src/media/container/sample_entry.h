// The sample description of one QuickTime or MP4 track, for the codecs whose description is known here. Pure.
// Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "media/container/mov_boxes.h"

namespace streamsim::media {

struct SampleEntry {
    enum class Kind { video, audio, timecode };
    Kind kind = Kind::video;
    std::string codec;   // libavformat's name for it: "prores", "aac"; time code: none
    bool intra = false;  // video: each frame can be decoded alone, whatever the table of sync samples says
    std::string tag;     // video: the four characters in the file
    int width = 0;
    int height = 0;
    int channels = 0;  // audio
    std::uint32_t sample_rate = 0;
    std::uint32_t pcm_bytes = 0;  // PCM: of one sample of all channels; 0: compressed
    bool drop = false;            // time code: drop-frame labels
    std::uint32_t count_per_second = 0;
};

/// `stsd`: the body of the box, which has to describe one kind of samples, in this file. Empty for what is not
/// known here, and where libavformat would report something else than the fields of the description say.
std::optional<SampleEntry> read_sample_entry(SampleEntry::Kind kind, Bytes stsd);

}  // namespace streamsim::media
