// MXF (ST 377-1) walked over by its keys and lengths, so that indexing does not read the essence. Inside media/
// only.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

struct MxfWalk {
    std::vector<Extent> frames;
    std::vector<std::vector<Extent>> audio;  // audio of each track of the hint
};

/// All frames of the file, and the audio of the tracks asked for, as libavformat would list them, from the
/// first packets that libavformat lists: `first.frames`, at least 2, and some of each track. Frame wrapped: the
/// key-length header at the place of a packet tells which key its track has, and every packet with this key is
/// one. Clip wrapped, no audio asked for: frames of one size that fill their only essence element exactly.
/// Empty for other files, for damaged or truncated files, for files that do not give exactly `first`, and when
/// jumping from header to header would save little: these have to be read in full. Errors: those of the source;
/// interrupted after `cancel`.
Result<std::optional<MxfWalk>> walk_mxf(ByteSource& source, const MxfWalk& first, IndexProgress* progress);

}  // namespace streamsim::media
