// Tells the clips and files of prepare from those of others that have their names, inodes or places.
//
// A record says which clip is ours; the file system may give its inode to another file, and some file systems
// have none. So the beginning of a file counts, too: a file that begins otherwise than prepare lets it begin is
// somebody else's, whatever its name. Version 0.1.0 wrote no records: bytes at both ends, which depend on the
// id of the media set, prove its clips. Inside media/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "media/frames/frame_maker.h"
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

/// True when the record was written for the clip at its path, whatever it holds by now. Errors: environment
/// from the store.
Result<bool> has_record(ByteStore& store, const StoredClip& clip, const ClipRecord& record);

/// True when prepare made the clip: by its record, and of a finished container also by its beginning; without a
/// record by its bytes. The files of a sequence are looked at one by one (begins_as_made). Errors: environment
/// from the store.
Result<bool> is_ours(ByteStore& store, const StoredClip& clip, const ClipProof& proof);
/// The same of a clip whose documents have been read. `sums` count of finished containers with a record alone.
Result<bool> is_ours(ByteStore& store,
                     const StoredClip& clip,
                     const ClipProof& proof,
                     const std::optional<ClipRecord>& record,
                     const std::optional<ClipSums>& sums);

/// The maker of a clip's frames; null where nothing is known of the format, or it cannot be made here.
std::unique_ptr<FrameMaker> known_maker(const MediaFormat* format, std::uint64_t frames);

/// False when a file of a sequence begins otherwise than frame `number`, which has the name `name`: somebody
/// else made it. Zeroes, and an end within the beginning, are what a power failure leaves; fields that state
/// the length of the file do not count, because an interrupted prepare leaves a shorter one. Without a maker
/// its name makes a file ours. Errors: environment from the store. REQUIRES: a regular file; number >=
/// kFirstFrameNumber.
Result<bool> begins_as_made(ByteStore& store,
                            const std::string& path,
                            const FrameMaker* maker,
                            std::uint64_t number,
                            std::string_view name);

}  // namespace streamsim::media
