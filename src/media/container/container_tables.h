// Common QuickTime and MP4 files by their sample tables, without libavformat, whose libraries take longer to
// load than all else at the start. Inside media/ only.
#pragma once

#include <optional>

#include "base/result.h"
#include "media/container/container_reader.h"
#include "media/container/container_structure.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// The same as read_container() gives. Empty for every file that is not understood with certainty, down to its
/// last box: fragmented, damaged or encrypted ones, those with several video tracks or very many others, with
/// an edit list that leaves frames out, or with a codec that is not known here. Errors: those of the source;
/// interrupted.
Result<std::optional<ReadContainer>> read_tables(ByteSource& source,
                                                 const ContainerStructure& structure,
                                                 const IndexOptions& options);

}  // namespace streamsim::media
