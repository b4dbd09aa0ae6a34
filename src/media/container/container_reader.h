// A container by libavformat: the frames of its video track, and the audio beside them. Inside media/ only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/container/container_file.h"
#include "media/container/container_structure.h"
#include "media/container/container_times.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

struct ReadContainer {
    std::string format;  // "prores apch 1920x1080"
    /// In stored order, as `ffprobe -show_packets` lists the frames. In transport and program streams, whose
    /// packets also hold other tracks, each reaches up to the next one.
    std::vector<Extent> extents;
    FrameStamps stamps;
    std::vector<std::uint32_t> sync;  // see ContainerFrames
    /// Frames behind `extents` that a truncated file states, at most, and does not have.
    std::uint64_t missing = 0;
    std::vector<std::vector<AudioPiece>> audio;  // audio of each track, on request
    bool audio_in_frames = false;                // `audio` is empty: it lies inside the extents of the frames
    std::string tracks;                          // "video prores apch, 4 x audio pcm_s16le 1 ch 48 kHz"
    std::string pattern;                         // MXF: "OP1a", "OP-Atom"; else ""
    std::optional<std::string> timecode;         // text of the time code in the file
    std::int64_t timecode_rate = 0;              // frames a second that it counts in; 0: not known
    bool read_through = false;                   // there was no other way to find the frames
    std::vector<std::string> notes;
};

/// The first video track that is no cover picture. QuickTime and MP4 by their tables, fragmented ones by the
/// headers of their fragments: without reading media. MXF of intra frames by its beginning and its key-length
/// headers (container_mxf.h). All others by reading through the file, with progress.
/// Errors: bad input naming the file and how far it was read; the source's own; interrupted after `cancel`.
Result<ReadContainer> read_container(ByteSource& source,
                                     const std::string& path,
                                     const ContainerStructure& structure,
                                     const IndexOptions& options);

}  // namespace streamsim::media
