// Plays worlds in virtual time, in this process, through the same Session as the command line and scenarios.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/session/session.h"
#include "worlds/storage_log.h"
#include "worlds/world.h"

namespace streamsim::worlds {

/// The request and the parts that a world is, with their media, as the command line or a scenario makes them.
struct Staged {
    run::PlayRequest request;
    std::vector<run::PlayPart> parts;
};
/// `world` outlives it. Errors: bad input: media that do not go together.
Result<Staged> stage(const RandomWorld& world);

/// A world that was played, or a part of it.
struct Played {
    Result<RunResult> result = interrupted_error();
    bool preroll_took_too_long = false;
    bool stuck = false;
    StorageLog log;
    std::vector<run::StreamPlan> plans;  // of the streams that were to play, by seat and stream
    Staged staged;                       // which the plans point into
};

/// Plays the seats [first_seat, first_seat + own_seats), or all. `world` outlives it.
void play(const RandomWorld& world,
          Played& into,
          std::uint32_t first_seat = 0,
          std::optional<std::uint32_t> own_seats = std::nullopt);

}  // namespace streamsim::worlds
