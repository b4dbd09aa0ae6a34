// The sizes of the files of a sequence, where no header tells them. Inside media/ only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/sequence/sequence_names.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

struct SequenceSizes {
    std::vector<std::uint64_t> bytes;  // file size of each number of the sequence; never 0
    std::uint64_t median = 0;          // median of the known file sizes
    std::uint64_t without = 0;  // files that have none: empty or not to be looked at; they have the median
};

/// Looks at each file, several at a time. Errors: bad input when no file has a size; interrupted when
/// `progress` (which counts files; may be null) says so.
Result<SequenceSizes> read_file_sizes(ByteStore& store,
                                      const std::string& directory,
                                      const FoundSequence& sequence,
                                      IndexProgress* progress);

}  // namespace streamsim::media
