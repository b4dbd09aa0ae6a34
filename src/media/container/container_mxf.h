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
    std::vector<std::vector<Extent>> audio;  // of each track of the hint
};

/// All frames of the file, and the audio of the tracks asked for, as libavformat would list them, given what it
/// lists first: `first.frames`, at least 2, and for each track its first packets. Frame wrapped: the key-length
/// header at the place of a packet tells which key its track has, and every packet with this key is one. Clip
/// wrapped, no audio asked for: frames of one size that fill their only essence element exactly. Nothing when
/// the file is anything else, is damaged or cut, does not give exactly `first`, or when going from header to
/// header would save little: then it has to be read. Errors: of the source; interrupted after `cancel`.
Result<std::optional<MxfWalk>> walk_mxf(ByteSource& source, const MxfWalk& first, IndexProgress* progress);

}  // namespace streamsim::media
