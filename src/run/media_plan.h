// From a target and formats to clips, and from clips to streams.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/media_set.h"
#include "run/play_request.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim {

/// One stream: whose it is, what it plays and how.
struct StreamPlan {
    Clip clip;
    PlayerOptions options;
    Duration start_offset;  // after the first stream (--stagger)
};

/// Clips that one format's streams need: 1, or one for each.
std::uint32_t clips_needed(const PlayRequest& request);

/// What has to be written before these formats can be played; a plan for each format that lacks clips. Blocks.
Result<std::vector<PreparePlan>> missing_media(ByteStore& store, const PlayRequest& request);

/// The clips of each format in turn (or of the target, where no format is asked for), each list as long as the
/// streams need. `dpx12` is what an empty directory gets. Blocks. Errors: bad input where the media that others
/// made are fewer than the streams; as the indexing.
Result<std::vector<std::vector<Clip>>> find_clips(ByteStore* store, const PlayRequest& request);

/// True when the target is an existing directory without clips of its own: its media is what prepare made or
/// will make.
Result<bool> is_empty_directory(ByteStore& store, const std::string& path);

/// Deals the clips to streams, by seat and stream. `alignment` is the storage's.
Result<std::vector<StreamPlan>> deal_streams(const PlayRequest& request,
                                             const std::vector<std::vector<Clip>>& clips,
                                             std::uint32_t alignment);

}  // namespace streamsim
