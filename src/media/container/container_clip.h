// A clip from a container file, by libavformat. Inside media/ only.
#pragma once

#include <string>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// The first video track, frame by frame in stored order (container_reader.h); with options.audio all audio
/// tracks. Frames that the file says lie behind its end, and those that a truncated file states and no longer
/// has, keep their slot and fail there; a note says how many. With options.keep_index the index is kept beside
/// the file and used when the file has still the same size and time; an index that cannot be written is a note.
/// `file` becomes what the store tells of the file; null: it is not wanted. Errors: those of read_container.
Result<Clip> index_container(ByteStore& store,
                             const std::string& path,
                             const std::string& name,
                             const IndexOptions& options,
                             FileInfo* file = nullptr);

}  // namespace streamsim::media
