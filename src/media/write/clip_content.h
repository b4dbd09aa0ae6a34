// The bytes that the frames of a clip must have, for --verify: those of media that prepare made are computed
// again, those of other media have checksums that were kept (frame_checksums.h).
#pragma once

#include <string>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// The clip with an index that knows its frames' contents (FrameIndex::content). Errors: bad input where nobody
/// knows them: prepare did not make the clip, and no checksums fit it; environment from the store.
/// `first_file`: another path of the clip's first file, which leads through its media set; empty: the clip's
/// own does.
Result<Clip> with_content(ByteStore& store, Clip clip, const std::string& first_file = {});

}  // namespace streamsim::media
