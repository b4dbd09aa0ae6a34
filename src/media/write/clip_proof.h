// Proves by its bytes that prepare made a clip without a record, because version 0.1.0 wrote no records. The
// bytes depend on the id of the media set, so that no other file has them. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "media/write/clip_record.h"
#include "media/write/media_set_names.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// A number for "this format at this length": a part of every payload key.
std::uint64_t format_key(const MediaFormat& format, std::uint64_t frames);

struct ClipProof {
    const MediaFormat* format = nullptr;  // null: unknown, and only a record counts
    std::uint64_t set = 0;
    bool every_frame =
        false;  // sequence: each frame, as far as it goes; else the first and the last with bytes
};

/// Compares the beginning and the end of a container's first and last frame, or those of a sequence's frames.
/// False also where nothing can be compared: no frame, or a format that cannot be made here.
bool is_proven(ByteStore& store, const StoredClip& clip, const ClipProof& proof);

/// True when prepare made the clip: by its record, or without a record by its bytes. Errors: environment from
/// the store.
Result<bool> is_ours(ByteStore& store, const StoredClip& clip, const ClipProof& proof);
/// The same of a clip whose record has been read.
Result<bool> is_ours(ByteStore& store,
                     const StoredClip& clip,
                     const ClipProof& proof,
                     const std::optional<ClipRecord>& record);

}  // namespace streamsim::media
