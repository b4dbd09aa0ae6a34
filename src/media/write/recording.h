// Recordings lie below TARGET/streamsim-media/, beside the formats of a media set:
//
//     recordings/run-0123456789abcdef/seat0-stream1/frame.0000001.dpx
//     recordings/run-0123456789abcdef/seat0-stream2.mov
//     recordings/run-0123456789abcdef/streams.json                         the record: which of these are ours
//
// Each run makes a directory of its own, so that nothing that was there before is ever opened. A container's
// file holds its frames, one after the other, and no index: it has the bytes and the sizes of the real thing,
// and is no movie that opens. Image sequences are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// Makes the distinct frames of an index of recording_index(), each at a multiple of `stride`; what is behind a
/// frame is zero. Errors: environment where the picture cannot be coded. REQUIRES: memory for all.
Result<void> make_recorded_frames(const MediaFormat& format,
                                  const FrameIndex& index,
                                  std::uint64_t key,
                                  std::uint64_t stride,
                                  std::span<std::byte> memory);

/// "seat0-stream1".
std::string recording_name(std::uint32_t seat, std::uint32_t stream);
bool is_recording(std::string_view name);
/// The extension of an empty file, named as a recording, that a run makes and removes to learn the alignment of
/// writes; clean removes one that was left.
inline constexpr std::string_view kAlignmentKind = ".mov";
/// "run-0123456789abcdef".
std::string run_name(std::uint64_t id);
bool is_run(std::string_view name);

/// Makes a directory for the recordings of one run; its path. Blocks. Errors: environment; bad input when the
/// target's streamsim-media was not made by us.
Result<std::string> make_recordings(ByteStore& store, const std::string& target);

struct RecordedStream {
    std::string name;          // recording_name()
    std::string kind;          // sequence: extension of its frames, "dpx"; container: its own, ".mov"
    std::uint64_t frames = 0;  // at most

    bool is_file() const { return kind.starts_with('.'); }
};

inline constexpr const char* kRecordedStreams = "streams.json";

RecordedStream recorded_stream(const MediaFormat& format, const std::string& name, std::uint64_t frames);

/// Writes in the directory which names of it are ours, before anything of that is made. Blocks. Errors:
/// environment.
Result<void> record_streams(ByteStore& store,
                            const std::string& target,
                            const std::string& directory,
                            const std::vector<RecordedStream>& streams);
/// Empty when there is no such document of this media set. Errors: environment from the store.
Result<std::vector<RecordedStream>> read_recorded_streams(ByteStore& store,
                                                          const std::string& directory,
                                                          std::uint64_t set);
/// The stream of the directory or file with this name; null: none.
const RecordedStream* find_stream(const std::vector<RecordedStream>& streams, std::string_view name);

/// Removes the recordings in that directory, the directory, and the directories above it that were made for it.
/// Blocks, until `stopped`, which is asked before each file, returns true. Returns a sentence for each file
/// that could not be removed, and one where it was stopped; missing files are no error.
std::vector<std::string> remove_recordings(ByteStore& store,
                                           const std::string& target,
                                           const std::string& directory,
                                           const std::function<bool()>& stopped = nullptr);

}  // namespace streamsim::media
