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
/// keep their slot, and a note says how many. The length of a frame is computed from raster and packing in the
/// first readable header when a few files are that long, else it is the length of its file; a truncated frame
/// counts as short, not as small. Errors: bad input that names the file and, where it is known, the byte;
/// environment from the store.
Result<Clip> index_clip(ByteStore& store, const std::string& path, const IndexOptions& options = {});

/// Indexes the clips of a directory and of the folders below it, `options.depth` levels deep, in name order:
/// container files and sequences. Hidden entries, folders of the system and our own "streamsim-media" are
/// passed over; links to folders are followed in the directory itself only. Files that are broken, have no
/// video, are links without a target or may not be read by this user, further names of one container file, and
/// folders that cannot be listed, are left out, with a note at the first clip. Empty when there is no media.
/// Errors: when no clip is left, with all that was left out: environment if something could not be opened, else
/// bad input; bad input when there are too many folders; environment and interrupted as index_clip.
Result<std::vector<Clip>> clips_in(ByteStore& store,
                                   const std::string& directory,
                                   const IndexOptions& options = {});

/// Tell by its extension whether a file is a container, or an image that can be a frame of a sequence.
bool is_container_name(const std::string& name);
bool is_image_name(const std::string& name);

/// True for the name of a folder that a NAS or an operating system keeps for itself: recycle bins, snapshots,
/// thumbnails, lost+found. In any case. (Others begin with a dot.)
bool is_system_folder(std::string_view name);

/// True when the last component of `path` is a pattern for file names (%d, %07d, ####) rather than a name.
bool is_pattern(std::string_view path);

}  // namespace streamsim::media
