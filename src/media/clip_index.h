// From files to clips: the frame index of a container (by libavformat) or of a sequence (by its directory
// listing and one header), whoever made it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// Indexes one clip. `path` is a container file, a directory that holds one sequence or one clip, one frame of
/// a sequence, or a pattern for its frames ("shot.%07d.dpx", "shot.####.dpx"). Frame numbers that are missing
/// keep their slot, and a note says how many. The length of a frame is what raster and packing in the first
/// readable header say where a few files are as long, else that of its file; a frame that was cut is short, not
/// small. Errors: bad input that
/// names the file and, where it is known, the byte; environment from the store.
Result<Clip> index_clip(ByteStore& store, const std::string& path, const IndexOptions& options = {});

/// The clips that a directory holds, in name order: container files, sequences, and sequences in its
/// sub-directories (one level). Hidden entries and our own "streamsim-media" are passed over. What is broken or
/// has no video is left out, with a note at the first clip. Empty when there is nothing. Errors: bad input with
/// all that was left out when no clip is left; environment and interrupted as index_clip.
Result<std::vector<Clip>> clips_in(ByteStore& store,
                                   const std::string& directory,
                                   const IndexOptions& options = {});

/// What a file is by the extension of its name: a container, or an image that can be a frame of a sequence.
bool is_container_name(const std::string& name);
bool is_image_name(const std::string& name);

/// Whether the last component of `path` is a pattern for file names (%d, %07d, ####) rather than a name.
bool is_pattern(std::string_view path);

}  // namespace streamsim::media
