// How much a command is going to write to a storage before it can measure anything, and whether somebody has to
// allow that first. Every command asks here before it writes media, working sets, recordings or what fills a
// volume.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/write/load_set.h"
#include "media/write/media_set.h"
#include "run/session/play_part.h"
#include "run/session/play_request.h"
#include "streamsim/byte_store.h"
#include "streamsim/workload.h"

namespace streamsim::run {

/// Media and recordings may take this share of the free space without a question, files of meters that share.
inline constexpr double kMediaShareUnasked = 0.5;
inline constexpr double kLoadShareUnasked = 0.1;

/// Bytes of a volume that meters, recorders and fill levels never write into: 1 % of it, and at least 1 GiB, or
/// 5 % of a volume that is smaller than 20 GiB.
std::uint64_t kept_free_bytes(std::uint64_t volume_bytes);

struct SpaceNeed {
    std::string target;
    std::uint64_t media_bytes = 0;   // clips that are missing
    std::uint64_t load_bytes = 0;    // files of meters that are missing, of all steps together
    std::uint64_t fill_bytes = 0;    // what fills the volume besides, at the fullest step
    std::uint64_t free_bytes = 0;    // before any of it is written
    std::uint64_t volume_bytes = 0;  // 0: not known
    std::uint64_t record_bytes = 0;  // what recorders write while the run lasts

    std::uint64_t bytes() const { return media_bytes + load_bytes + fill_bytes + record_bytes; }
    /// A fill level always does; the rest where it is large for the free space.
    bool needs_consent() const;
    /// "26.1 GB would be written to /mnt/x, where 30.1 GB are free; the volume is 20.0 % full and would be
    /// 95.0 % full"
    std::string sentence() const;
};

/// Errors: environment, when the bytes do not fit, or would be written into what is kept free.
Result<void> check_space(const SpaceNeed& need);

/// What the recorders of all seats write: their rate by the length of the run. Of those that write as fast as
/// they can, only the frames that were asked for are known.
std::uint64_t record_bytes_of(const PlayRequest& request);
std::uint64_t record_bytes_of(const std::vector<PlayPart>& parts);

/// Of media and files of meters that are written before one play, and of its recordings. Blocks. Errors:
/// environment from the store; as check_space.
Result<SpaceNeed> need_of_play(ByteStore& store,
                               const std::string& target,
                               const media::LoadSetPlan& load,
                               const std::vector<media::PreparePlan>& media,
                               std::uint64_t record_bytes);

/// Of all steps of a workload; `base` as for load_request(). Writes nothing. Blocks. Errors: environment from
/// the store; as check_space.
Result<SpaceNeed> need_of_workload(ByteStore& store, const Workload& workload, const PlayRequest& base);

/// Bytes that are missing until the volume of `target` is `percent` full; 0: it is already. Blocks. Errors:
/// environment, also when that would take what is kept free.
Result<std::uint64_t> bytes_to_fill(ByteStore& store, const std::string& target, double percent);

}  // namespace streamsim::run
