// From a target and formats to clips; the parts of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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

/// The seats, numbers and times of a part's streams in a run of several parts.
struct PartSchedule {
    std::uint32_t first_seat = 0;
    std::uint32_t first_stream = 0;  // on each of the part's seats
    /// The times at which stream `stream` of seat `seat` begins and ends, from the beginning of the run. Both
    /// numbers count within the part.
    std::function<Duration(std::uint32_t seat, std::uint32_t stream)> start;
    std::function<Duration(std::uint32_t seat)> end;
};

/// A part of a run: streams of one request, with their media and their schedule. A run from the command line
/// has one part, a scenario one for each kind of streams.
struct PlayPart {
    PlayRequest request;
    FoundMedia media;
    std::optional<std::uint64_t> order_seed;  // of random orders; nothing: the request's seed
    std::optional<PartSchedule> schedule;  // nothing: all begin together and play as long as the request says
};

/// The only part of a run from the command line.
inline std::vector<PlayPart> one_part(const PlayRequest& request, FoundMedia media) {
    std::vector<PlayPart> parts(1);
    parts.front().request = request;
    parts.front().media = std::move(media);
    return parts;
}

inline std::uint64_t files_in(const Clip& clip) {
    return clip.index->file_per_frame() ? clip.index->count() : 1;
}

/// Streams of each format, of all seats together.
std::uint32_t streams_of_format(const PlayRequest& request);
/// Streams of all formats and seats together, recorders among them.
std::uint64_t streams_of(const PlayRequest& request);

/// Clips that the streams of one format need: 1, or one for each layer of each stream.
std::uint32_t clips_needed(const PlayRequest& request);
/// Frames of a clip that play on a model covers, at most.
std::uint64_t frames_of_play(const PlayRequest& request, const MediaFormat& format);

/// The beginning of all names of media that exist only as a plan.
std::string planned_root(const target::Target& target);

/// The media that have to be written before play: a plan for each format that lacks clips, of one request or of
/// all parts together. Blocks.
Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const PlayRequest& request);
Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const std::vector<PlayPart>& parts);

/// Blocks. Errors: bad input where the target has fewer clips than the streams need; as the indexing.
Result<FoundMedia> find_media(ByteStore* store, const PlayRequest& request, IndexProgress* progress);

/// The parts with their media. Streams with a clip of their own get one that no other stream of their target
/// has, in any part; streams of one format that share a clip share it over all parts. Targets that lie in one
/// another are searched each for itself. Without a store, parts without a format stay without clips: a computer
/// that only leads plays none. Blocks. Errors: as find_media of one request.
Result<std::vector<PlayPart>> find_media(ByteStore* store,
                                         std::vector<PlayPart> parts,
                                         IndexProgress* progress);

/// All clips of the target's own. Blocks. Errors: as find_media.
Result<std::vector<Clip>> clips_of_target(ByteStore& store,
                                          const PlayRequest& request,
                                          IndexProgress* progress);

/// True: the target is an existing directory without clips of its own, and prepare makes its media.
Result<bool> is_empty_directory(ByteStore& store, const std::string& path);

}  // namespace streamsim::run
