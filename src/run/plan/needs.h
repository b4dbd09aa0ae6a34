// The memory that a run needs, and the bytes that a command is going to write to a storage (SpaceNeed), which
// the user may have to allow first. Every command checks both before it writes media, working sets, recordings
// or the filling of a volume.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/write/load_set.h"
#include "media/write/media_set.h"
#include "run/plan/media_plan.h"
#include "run/plan/play_request.h"
#include "run/plan/stream_plan.h"
#include "streamsim/byte_store.h"
#include "streamsim/workload.h"

namespace streamsim::run {

/// Checks that this computer has memory for all streams of the parts, and where the run keeps its frames
/// (PlayRequest::keep_frames) for those. Their media need not exist; the frames of clips that nobody has looked
/// for do not count. Errors: environment.
Result<void> check_memory(const std::vector<PlayPart>& parts, bool keep_frames);

/// Checks that this computer has memory for a row of every frame. Streams without deadlines do not count.
/// Errors: environment.
Result<void> check_rows(const std::vector<StreamPlan>& streams);

/// How many times the streams of the request fit into memory; nullopt: there is no limit. Without media, the
/// media that prepare would make count. Errors: bad input, as when the streams are played.
Result<std::optional<std::uint64_t>> times_in_memory(const PlayRequest& request, const FoundMedia& media);

/// Shares of the free space that need no consent: of media and recordings, and of the files of meters.
inline constexpr double kMediaShareUnasked = 0.5;
inline constexpr double kLoadShareUnasked = 0.1;

/// Bytes of a volume that stay free: 1 % of it, and at least 1 GiB, or 5 % of a volume below 20 GiB.
std::uint64_t kept_free_bytes(std::uint64_t volume_bytes);

struct SpaceNeed {
    std::string target;
    std::uint64_t media_bytes = 0;   // by which missing clips grow the media (PreparePlan::bytes_added)
    std::uint64_t load_bytes = 0;    // files of meters that are missing, of all steps together
    std::uint64_t fill_bytes = 0;    // files that fill the volume besides, at the fullest step
    std::uint64_t free_bytes = 0;    // before any of it is written
    std::uint64_t volume_bytes = 0;  // 0: not known
    std::uint64_t record_bytes = 0;  // that recorders write during the run

    std::uint64_t bytes() const { return media_bytes + load_bytes + fill_bytes + record_bytes; }
    /// A fill level always needs consent, the rest where it is large for the free space.
    bool needs_consent() const;
    /// "26.1 GB would be written to /mnt/x, where 30.1 GB are free; the volume is 20.0 % full and would be
    /// 95.0 % full"
    std::string sentence() const;
};

/// Errors: environment: the bytes do not fit, or leave less than kept_free_bytes().
Result<void> check_space(const SpaceNeed& need);

/// The bytes that the recorders of all seats write: their rate by the length of the run, which may be that of
/// the cut list in `media`. Recorders without deadlines count only with --frames.
std::uint64_t record_bytes_of(const PlayRequest& request, const FoundMedia& media = {});
std::uint64_t record_bytes_of(const std::vector<PlayPart>& parts);

/// The need of one run: media and files of meters that are written before it, and its recordings. Blocks.
/// Errors: environment from the store; as check_space.
Result<SpaceNeed> need_of_play(ByteStore& store,
                               const std::string& target,
                               const media::LoadSetPlan& load,
                               const std::vector<media::PreparePlan>& media,
                               std::uint64_t record_bytes);

/// The need of all steps of a workload; `base` as for load_request(). Writes nothing. Blocks. Errors:
/// environment from the store; as check_space.
Result<SpaceNeed> need_of_workload(ByteStore& store, const Workload& workload, const PlayRequest& base);

/// Bytes to write until the volume of `target` is `percent` full; 0: it is already. Blocks. Errors:
/// environment, also where less than kept_free_bytes() would stay.
Result<std::uint64_t> bytes_to_fill(ByteStore& store, const std::string& target, double percent);

}  // namespace streamsim::run
