// A media set describes each of its clips in two small documents beside the clip:
//
//     record-0001.json   before its first frame: which set, how many frames, which file or directory it is
//     whole-0001.json    before it gets its final name: its bytes, and checksums of its ends
//
// Only clips named by a record may be played as whole clips, replaced, continued or removed; and clips without
// one that version 0.1.0 made, as their bytes prove. Files that begin otherwise than ours stay all the same
// (clip_proof.h). Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "media/write/media_set_names.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

/// Identifies the documents of a clip.
struct ClipKey {
    std::string directory;  // of its length
    std::uint64_t set = 0;  // id of the media set
    std::uint32_t number = 1;
};
ClipKey key_of(const StoredClip& clip, std::uint64_t set);

struct ClipRecord {
    std::uint64_t frames = 0;
    std::string kind;           // sequence: extension of its frames, "dpx"; container: its own, ".mov"
    std::uint64_t file_id = 0;  // id of its directory or file (FileInfo); 0: unknown
    std::uint64_t self_id = 0;  // id of the record itself, which changes when the whole set is copied
};

/// Checksums of a piece at the beginning and one at the end of a container, or of the first and the last frame.
struct ClipSums {
    std::uint64_t bytes = 0;        // length of a container
    std::uint64_t first_bytes = 0;  // length of a sequence's first and last frame
    std::uint64_t last_bytes = 0;
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
};

/// "record-0001.json", "whole-0001.json", of clip 1; and back.
std::string record_name(std::uint32_t number);
std::string sums_name(std::uint32_t number);
std::optional<std::uint32_t> record_number_in(std::string_view name);

/// "dpx" or ".mov": what a record calls this kind of clip.
std::string record_kind(const MediaFormat& format);

/// Nothing where there is none, or where it is not of this set and this number: somebody else's, or damaged.
/// Errors: environment from the store.
Result<std::optional<ClipRecord>> read_record(ByteStore& store, const ClipKey& clip);
Result<std::optional<ClipSums>> read_sums(ByteStore& store, const ClipKey& clip);
/// Replaces one of ours. Errors: environment; where somebody else's file has the name.
Result<void> write_record(ByteStore& store, const ClipKey& clip, const ClipRecord& record);
Result<void> write_sums(ByteStore& store, const ClipKey& clip, const ClipSums& sums);
/// True when both names are free or ours.
Result<bool> may_record(ByteStore& store, const ClipKey& clip);

Result<bool> is_record(ByteStore& store,
                       const std::string& directory,
                       std::uint64_t set,
                       const std::string& name);

/// True when this is the file or directory that the record was written for, as far as ids are known.
bool is_recorded(const ClipRecord& record, const FileInfo& info);

/// The checksums of a clip that has just been written. Reading it leaves nothing in the page cache.
Result<ClipSums> sums_of_container(ByteStore& store, const std::string& path);
Result<ClipSums> sums_of_frames(ByteStore& store, const std::string& first, const std::string& last);

/// False when a finished container begins otherwise than its checksum says, and not with zeroes alone: another
/// file has its name. The first eight bytes decide where it is cut to less than the checksum covers. Errors:
/// environment from the store.
Result<bool> begins_as_recorded(ByteStore& store, const std::string& path, const ClipSums& sums);

/// The defect of a clip of ours with its final name; empty: the clip is whole. Missing frames and frames of
/// another length do not count here, because they fail at their slots. Without checksums only holes count.
/// `sampled`: some files of a sequence. Errors: environment from the store.
Result<std::string> problem_of_container(ByteStore& store,
                                         const std::string& path,
                                         const std::optional<ClipSums>& sums);
Result<std::string> problem_of_frames(ByteStore& store,
                                      const std::string& first,
                                      const std::string& last,
                                      const std::vector<std::string>& sampled,
                                      const std::optional<ClipSums>& sums);

}  // namespace streamsim::media
