// What a media set says of each of its clips, in two small documents beside the clip:
//
//     record-0001.json   before its first frame: which set, how many frames, which file or directory it is
//     whole-0001.json    before it gets its final name: its bytes, and checksums of its ends
//
// Only what a record names is ours: is replaced, continued or removed. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "media/write/media_set_names.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

struct ClipRecord {
    std::uint64_t set = 0;  // id of the media set
    std::uint32_t number = 1;
    std::uint64_t frames = 0;
    std::string kind;  // of a sequence: the extension of its frames, "dpx"; else the clip's own, ".mov"
    std::uint64_t file_id = 0;  // of its directory or its file (FileInfo); 0: not known
    std::uint64_t self_id = 0;  // of the record: another one is there when the whole set was copied
};

/// A piece at the beginning and one at the end: of a container, or of the first and the last frame.
struct ClipSums {
    std::uint64_t set = 0;
    std::uint32_t number = 1;
    std::uint64_t bytes = 0;        // of a container
    std::uint64_t first_bytes = 0;  // of the first frame of a sequence, and of the last
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

/// Documents in the directory of a length. Reading: nothing where there is none, or where it is not of this set
/// and this number: somebody else's, or damaged. Errors: environment from the store.
Result<std::optional<ClipRecord>> read_record(ByteStore& store,
                                              const std::string& directory,
                                              std::uint64_t set,
                                              std::uint32_t number);
Result<std::optional<ClipSums>> read_sums(ByteStore& store,
                                          const std::string& directory,
                                          std::uint64_t set,
                                          std::uint32_t number);
/// Replaces one of ours. Errors: environment; where somebody else's file has the name.
Result<void> write_record(ByteStore& store, const std::string& directory, const ClipRecord& record);
Result<void> write_sums(ByteStore& store, const std::string& directory, const ClipSums& sums);
/// Whether both names are free or ours.
Result<bool> may_record(ByteStore& store,
                        const std::string& directory,
                        std::uint64_t set,
                        std::uint32_t number);

/// Whether what has this name, one of the two or another, is a record of this set.
Result<bool> is_record(ByteStore& store,
                       const std::string& directory,
                       std::uint64_t set,
                       const std::string& name);

/// Whether this is the file or directory that the record was written for, as far as ids are known.
bool is_recorded(const ClipRecord& record, const FileInfo& info);

/// The sums of a clip that has just been written. Nothing of it is left in the page cache by that.
Result<ClipSums> sums_of_container(ByteStore& store, const std::string& path);
Result<ClipSums> sums_of_frames(ByteStore& store, const std::string& first, const std::string& last);

/// How a clip of ours that has its final name fails to be whole; empty: it is whole. A frame that is missing or
/// of another length fails at its slot and is no matter here. Without sums only holes count. `sampled`: some
/// files of a sequence. Errors: environment from the store.
Result<std::string> problem_of_container(ByteStore& store,
                                         const std::string& path,
                                         const std::optional<ClipSums>& sums);
Result<std::string> problem_of_frames(ByteStore& store,
                                      const std::string& first,
                                      const std::string& last,
                                      const std::vector<std::string>& sampled,
                                      const std::optional<ClipSums>& sums);

}  // namespace streamsim::media
