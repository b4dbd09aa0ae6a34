// A clip from a sequence on storage. Inside media/ only.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "media/dpx.h"
#include "media/sequence_names.h"
#include "streamsim/byte_store.h"

namespace streamsim {

/// What is known of our own sequences without their listing and headers: a header holds the rate as a float
/// only.
struct KnownFrames {
    std::uint64_t first = 1;
    std::uint64_t count = 1;
    FrameRate rate;
};

/// Reads headers in frame order until one is readable and makes the index from it. Errors: that of the first
/// frame when none is.
Result<Clip> index_sequence(ByteStore& store,
                            const std::string& directory,
                            const FoundSequence& sequence,
                            const std::string& name,
                            std::optional<KnownFrames> known = std::nullopt);

}  // namespace streamsim
