// MXF (ST 377-1) walked over by its keys and lengths: indexing does not read the essence. Inside media/ only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// The packets of each track: the frames, then the audio of each track that is asked for.
using MxfTracks = std::vector<std::vector<Extent>>;

/// All frames of the file, and the audio of the tracks asked for, as libavformat would list them, from the
/// first packets that libavformat lists: at least 2 frames, and some of each audio track. Frame wrapped: the
/// key-length header at the place of a packet tells which key its track has, and every packet with this key is
/// one. Clip wrapped, no audio asked for: frames of one size that fill their only essence element exactly.
/// Empty for other files, for damaged or truncated files, for files that do not give exactly `first`, and when
/// jumping from header to header would save little: these have to be read in full. Errors: those of the source;
/// interrupted after `cancel`.
Result<std::optional<MxfTracks>> walk_mxf(ByteSource& source, const MxfTracks& first, IndexProgress* progress);

/// "OP1a", "OP-Atom": the operational pattern of a label as libavformat prints it; empty for others.
std::string mxf_pattern(std::string_view label);

}  // namespace streamsim::media
