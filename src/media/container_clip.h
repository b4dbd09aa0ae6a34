// A clip from a container file, by libavformat. Inside media/ only.
#pragma once

#include <string>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim {

/// The video track of a container: its own frame table where it has a whole one (QuickTime, MP4), else a walk
/// over its packets. Errors: bad input naming the file and how far it was read.
Result<Clip> index_container(ByteStore& store,
                             const std::string& path,
                             const std::string& name,
                             const IndexOptions& options);

}  // namespace streamsim
