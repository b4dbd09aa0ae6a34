// From a target and formats to clips.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/write/media_set.h"
#include "run/plan/play_request.h"
#include "streamsim/byte_store.h"
#include "streamsim/cut_list.h"
#include "streamsim/media.h"

namespace streamsim::run {

/// The media of a request: clips of each format in turn (of the target, without a format), each list as long as
/// the streams need; or a cut list with its clips.
struct FoundMedia {
    std::vector<std::vector<Clip>> clips;
    std::vector<std::vector<Clip>> spare;  // by format: existing clips that no stream plays
    std::optional<CutList> cuts;
};

/// Streams of each format, of all seats together.
std::uint32_t streams_of_format(const PlayRequest& request);

/// Clips that the streams of one format need: 1, or one for each layer of each stream.
std::uint32_t clips_needed(const PlayRequest& request);
/// Frames of a clip that play on a model covers, at most.
std::uint64_t frames_of_play(const PlayRequest& request, const MediaFormat& format);

/// The beginning of all names of media that exist only as a plan.
std::string planned_root(const target::Target& target);

/// The media that have to be written before play: a plan for each format that lacks clips. Blocks.
Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const PlayRequest& request);

/// Blocks. Errors: bad input where the target has fewer clips than the streams need; as the indexing.
Result<FoundMedia> find_media(ByteStore* store, const PlayRequest& request, IndexProgress* progress);

/// All clips of the target's own. Blocks. Errors: as find_media.
Result<std::vector<Clip>> clips_of_target(ByteStore& store,
                                          const PlayRequest& request,
                                          IndexProgress* progress);

/// True: the target is an existing directory without clips of its own, and prepare makes its media.
Result<bool> is_empty_directory(ByteStore& store, const std::string& path);

}  // namespace streamsim::run
