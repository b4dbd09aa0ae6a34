// A clip from a container file, by libavformat. Inside media/ only.
#pragma once

#include <string>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// The first video track of a container, frame by frame in stored order: of QuickTime and MP4 from their tables
/// and the headers of their fragments, of MXF with intra frames by its headers, of others by reading through
/// the file (progress; `cancel` gives an interrupted error). Frames that the file says lie behind its end keep
/// their slot and fail there; a note says how many. With options.audio all audio tracks, as chunks that belong
/// to frames (container_audio.h). With options.keep_index the index is kept beside the file and used when the
/// file has still the same size and time; an index that cannot be written is a note. Errors: bad input naming
/// the file and how far it was read.
Result<Clip> index_container(ByteStore& store,
                             const std::string& path,
                             const std::string& name,
                             const IndexOptions& options);

}  // namespace streamsim::media
