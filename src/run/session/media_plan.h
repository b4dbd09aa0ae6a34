// From a target and formats to clips.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/write/media_set.h"
#include "run/session/play_request.h"
#include "streamsim/byte_store.h"
#include "streamsim/cut_list.h"
#include "streamsim/media.h"

namespace streamsim::run {

/// What there is to play: the clips of each format in turn (or of the target, where no format is asked for),
/// each list as long as the streams need; or a cut list with its clips.
struct FoundMedia {
    std::vector<std::vector<Clip>> clips;
    std::vector<std::vector<Clip>> spare;  // by format too: that are there and no stream plays
    std::optional<CutList> cuts;
};

/// Streams of each format, of all seats together.
std::uint32_t streams_of_format(const PlayRequest& request);

/// Clips that one format's streams need: 1, or one for each layer of each.
/// On a model: how many frames of a clip play goes over, at most.
std::uint64_t frames_of_play(const PlayRequest& request, const MediaFormat& format);
std::uint32_t clips_needed(const PlayRequest& request);

/// What the names of media that exists only as a plan begin with.
std::string planned_root(const target::Target& target);

/// What has to be written before these formats can be played; a plan for each format that lacks clips. Blocks.
Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const PlayRequest& request);

/// Blocks. Errors: bad input where the media that others made are fewer than the streams; as the indexing.
Result<FoundMedia> find_media(ByteStore* store, const PlayRequest& request, IndexProgress* progress);

/// Every clip that the target holds of its own, as many as there are. Blocks. Errors: as find_media.
Result<std::vector<Clip>> clips_of_target(ByteStore& store,
                                          const PlayRequest& request,
                                          IndexProgress* progress);

/// True when the target is an existing directory without clips of its own: its media is what prepare made or
/// will make.
Result<bool> is_empty_directory(ByteStore& store, const std::string& path);

}  // namespace streamsim::run
