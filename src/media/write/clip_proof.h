// Proves by its bytes that prepare made a clip without a record, because version 0.1.0 wrote no records. The
// bytes depend on the id of the media set, so that no other file has them. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/document/json.h"
#include "base/result.h"
#include "media/write/clip_record.h"
#include "media/write/media_set_names.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// A number for "this format at this length": a part of every payload key.
std::uint64_t format_key(const MediaFormat& format, std::uint64_t frames);

/// The format that an identity (catalogue.h) describes, as far as it does; empty when the document is no
/// identity.
std::optional<MediaFormat> format_of_identity(const Json& identity);

/// Compares the beginning and the end of a container's first and last frame; of a sequence the first and the
/// last frame that have bytes, or with `every_frame` each of them, as far as it goes. False also where nothing
/// can be compared: no frame, or a format that cannot be made here.
bool is_proven(
    ByteStore& store, const StoredClip& clip, const MediaFormat& format, std::uint64_t set, bool every_frame);

/// True when prepare made the clip: by its record, or without a record by its bytes. Without a format only a
/// record counts. Errors: environment from the store.
Result<bool> is_ours(ByteStore& store,
                     const StoredClip& clip,
                     const std::optional<MediaFormat>& format,
                     std::uint64_t set,
                     bool every_frame);
/// The same of a clip whose record has been read.
Result<bool> is_ours(ByteStore& store,
                     const StoredClip& clip,
                     const std::optional<MediaFormat>& format,
                     std::uint64_t set,
                     bool every_frame,
                     const std::optional<ClipRecord>& record);

}  // namespace streamsim::media
