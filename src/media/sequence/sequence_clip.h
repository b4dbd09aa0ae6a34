// A clip from a sequence on storage. Inside media/ only.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "media/image/image_header.h"
#include "media/sequence/sequence_names.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

/// The facts of a sequence that prepare made; its headers hold the rate only as a float.
struct KnownFrames {
    std::uint64_t first = 1;
    std::uint64_t count = 1;
    FrameRate rate;
};

/// Makes the index from the first header that is readable, compared with that of the last frame and with the
/// sizes of a few files. A few files of one size are trusted over the header, unless they end before the image.
/// Files of different sizes, EXR, whose frames may have data windows of their own, and compressed images, whose
/// headers state no length, are checked one by one: a file shorter than its header states keeps the stated
/// length, and its frame fails. So does a compressed one of which this finds that it is cut or no image.
/// `progress` may be null.
/// Errors: that of the first frame when none is readable; bad input when a single file, or each of several,
/// ends before its image; interrupted.
Result<Clip> index_sequence(ByteStore& store,
                            const std::string& directory,
                            const FoundSequence& sequence,
                            const std::string& name,
                            std::optional<KnownFrames> known = std::nullopt,
                            IndexProgress* progress = nullptr);

/// The header of one file. REQUIRES: image_kind knows its name.
Result<ImageHeader> read_frame_header(ByteStore& store, const std::string& path);

}  // namespace streamsim::media
