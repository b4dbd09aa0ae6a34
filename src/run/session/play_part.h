// A part of a run: streams that are asked for in one breath, with their media and their place in time. Playing
// from the command line is one part, a scenario has one for each kind of streams.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "run/session/media_plan.h"
#include "run/session/play_request.h"

namespace streamsim::run {

/// Where the streams of a part are in a run of several parts.
struct PartPlace {
    std::uint32_t first_seat = 0;
    std::uint32_t first_stream = 0;  // on each of the part's seats
    /// When stream `stream` of seat `seat`, both of the part, begins and ends; from the beginning of the run.
    std::function<Duration(std::uint32_t seat, std::uint32_t stream)> start;
    std::function<Duration(std::uint32_t seat)> end;
};

struct PlayPart {
    PlayRequest request;
    FoundMedia media;
    std::optional<std::uint64_t> order_seed;  // of what operators do by chance; nothing: the request's seed
    std::optional<PartPlace> place;  // nothing: all begin together and play as long as the request says
};

/// Playing from the command line.
std::vector<PlayPart> one_part(const PlayRequest& request, FoundMedia media);

}  // namespace streamsim::run
