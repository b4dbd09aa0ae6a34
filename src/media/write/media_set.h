// The media that `prepare` makes, all of it below TARGET/streamsim-media/:
//
//     streamsim-media.json                        the marker: schema, version, the random id of this media set
//     dpx12/format.json                           which format this is, beyond its name
//     dpx12/240-frames/clip-0001/frame.0000001.dpx
//     prores-hd/300-frames/clip-0001.mov
//     recordings/run-0123456789abcdef/seat0-stream1/frame.0000001.dpx     (recording.h)
//
// The length of a clip is in its path, so a frame that is deleted later is a missing frame and not a shorter
// clip. A file name holds one run of digits, because servers that prefetch by name take the first run for the
// frame number.
//
// While it is being written, the directory of a format or of a sequence, or the file of a container or of a
// document, has the run's id and ".partial" at the end of its name. The rename to the final name is the last
// step, after everything is on stable storage, so that everything with a final name is whole even when the
// process is killed. The next prepare continues in the partial directory. `clean` goes the same way back: a
// format or a clip becomes partial before its first file is removed, and each file gets a name that ends in
// ".removing" first (checked_removal.h).
//
// Beside each clip lies its record (clip_record.h), without which only its bytes make it ours; a file that
// begins otherwise than prepare lets it begin is never ours (clip_proof.h). Everything below the target is
// accessed through ByteStore::beneath(): no link is followed, and no existing file is overwritten.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

struct PrepareRequest {
    std::string target;  // an existing directory
    MediaFormat format;
    std::uint32_t clips = 1;
    std::optional<Duration> clip_duration;  // empty: clips of any length count, and new ones are 10 s long
    std::uint64_t seed = 1;                 // seed of the frame sizes
};

inline constexpr Duration kDefaultClipDuration = seconds(10);

struct PlannedClip {
    std::uint32_t number = 1;        // 1, 2, ...: in its name
    std::string path;                // its final path
    std::string from;                // path of its existing, incomplete media of ours; empty: none
    std::uint64_t bytes = 0;         // still to be written
    std::uint64_t bytes_there = 0;   // of frames_there
    std::uint64_t bytes_freed = 0;   // of files that it removes first; of each at most what is written instead
    std::vector<bool> frames_there;  // sequence, slot by slot: whole by its length in an interrupted prepare
};

/// The actions of prepare. A value; valid until somebody else changes the media set.
struct PreparePlan {
    PrepareRequest request;
    std::string directory;     // directory of the format, below TARGET/streamsim-media/
    std::uint64_t frames = 0;  // frames of each new clip
    std::uint32_t clips_there = 0;
    std::vector<PlannedClip> missing;
    std::vector<std::string> notes;  // clips that are there and do not count, each with its path and why
    std::uint64_t bytes_to_write = 0;
    std::uint64_t bytes_to_check = 0;  // of frames_there: those that turn out to be wrong are written, too
    std::uint64_t bytes_freed = 0;     // of all clips
    std::uint64_t bytes_free = 0;

    /// The most that the used space grows by at any time, in whatever order the clips are written, because no
    /// clip frees more than it writes.
    std::uint64_t bytes_added() const { return bytes_to_write - bytes_freed; }
    bool nothing_to_do() const { return missing.empty(); }
};

/// prepare writes the counters and a progress bar on another thread reads them; the other thread sets `cancel`.
struct PrepareProgress {
    std::atomic<std::uint64_t> bytes_done{0};
    std::atomic<std::uint64_t> bytes_total{0};
    std::atomic<std::uint32_t> clips_done{0};
    std::atomic<bool> cancel{false};  // set by a signal handler: prepare stops within a few MiB
};

struct CleanReport {
    std::uint64_t files_removed = 0;
    std::uint64_t bytes_removed = 0;
    std::vector<std::string> kept;  // paths that prepare cannot have made; their directories stay, too
};

/// The complete clips of exactly this format below `target`, shortest first, then by number; indexed from the
/// files themselves. With a `clip_duration` only those of that length. Empty when there is no media set.
/// Errors: environment from the store; bad input when no frame of a clip can be read.
Result<std::vector<Clip>> complete_clips(ByteStore& store,
                                         const std::string& target,
                                         const MediaFormat& format,
                                         std::optional<Duration> clip_duration);

/// The formats of which the media set below `target` holds clips, finished or not, in name order.
/// Empty when there is no media set. Errors: environment from the store; bad input when its streamsim-media was
/// not made by prepare.
Result<std::vector<MediaFormat>> formats_in_set(ByteStore& store, const std::string& target);

/// Finds what is missing; writes nothing. Files of ours that are removed before they are written anew count as
/// free space. Errors: environment when `target` is no directory, when it has not enough free space (1 % is
/// kept free), or when its streamsim-media was not made by prepare.
Result<PreparePlan> plan_prepare(ByteStore& store, const PrepareRequest& request);

/// Writes what the plan lists: one sequential writer a clip, up to four clips at once. Blocks; returns when all
/// of its threads have ended. Errors: interrupted after `cancel`; environment (a full disk, ...) naming the
/// path. Either leaves partial media that the next prepare completes.
Result<void> prepare(ByteStore& store, const PreparePlan& plan, PrepareProgress& progress);

/// Removes the directory that one run's recordings are in, and in it only what its record names. `stopped` is
/// asked before each file. Errors: as clean(); interrupted where `stopped` returned true.
Result<CleanReport> clean_recordings_of_run(ByteStore& store,
                                            const std::string& target,
                                            const std::string& directory,
                                            const std::function<bool()>& stopped = nullptr);

/// Removes TARGET/streamsim-media, and in it only what the records of prepare, recorders and meters name; links
/// are foreign and are not followed. Errors: bad input when there is no media set or its marker is not ours;
/// environment from the store; the same, with all that is kept, after everything else was removed, when frames,
/// containers or their records cannot be read; interrupted after `stop`, before the next file is removed:
/// another clean, or a prepare, continues from there.
Result<CleanReport> clean(ByteStore& store, const std::string& target, const std::atomic<bool>* stop = nullptr);

}  // namespace streamsim::media
