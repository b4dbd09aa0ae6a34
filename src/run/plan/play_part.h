// A part of a run: streams of one request, with their media and their schedule. A run from the command line has
// one part, a scenario one for each kind of streams.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "run/plan/media_plan.h"
#include "run/plan/play_request.h"

namespace streamsim::run {

/// The seats, numbers and times of a part's streams in a run of several parts.
struct PartSchedule {
    std::uint32_t first_seat = 0;
    std::uint32_t first_stream = 0;  // on each of the part's seats
    /// The times at which stream `stream` of seat `seat` begins and ends, from the beginning of the run. Both
    /// numbers count within the part.
    std::function<Duration(std::uint32_t seat, std::uint32_t stream)> start;
    std::function<Duration(std::uint32_t seat)> end;
};

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

}  // namespace streamsim::run
