// The index of a container, stored beside it on request: "<clip>.streamsim-index". Inside media/ only.
//
// Little-endian: the magic line "streamsim-index\n", u32 version, u32 flags (1: audio was asked for), u64 size
// and i64 modification time of the media, the clip (texts, notes, start time code), the frames (each list with
// its length before it), and at the end a u64 checksum (FNV-1a) of everything before it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "media/container/container_file.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

inline constexpr const char* kKeptSuffix = ".streamsim-index";

/// The stored facts of a clip: all but its name and its path.
struct KeptClip {
    Clip clip;  // index is null
    ContainerFrames frames;
    bool read_through = false;  // the whole file was read for this; not stored
};

struct KeptFound {
    std::optional<KeptClip> clip;  // the stored index, if it fits
    std::string note;              // why an existing index is not used; empty: none exists, or it fits
    bool ours = false;             // an index of ours exists, and may be replaced
    bool foreign = false;          // another file has its name
};

/// Reads the index beside `path`. `media`: size and time of the media now. One that was made without audio does
/// not fit where audio is asked for. Never fails: an index that cannot be read is not used.
KeptFound find_kept(ByteStore& store, const std::string& path, const FileInfo& media, bool audio);

/// Writes it under a partial name and renames it; replaces an older one of ours (`found`), never anything else.
/// Errors: environment, also when something else has its name.
Result<void> keep(ByteStore& store,
                  const std::string& path,
                  const FileInfo& media,
                  bool audio,
                  const KeptFound& found,
                  const KeptClip& clip);

}  // namespace streamsim::media
