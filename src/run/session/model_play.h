// One play on a model, again and again with another one: for searches, printed rows, fits and predictions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/session/session.h"
#include "streamsim/cluster_model.h"
#include "streamsim/max_result.h"

namespace streamsim::run {

struct ModelPlay {
    MaxRun run;
    std::string full;  // the part that was full when frames were missed, or over play (judge::full_part)
};

/// Plays the request as it is, on target.model. A preroll that takes too long is play that failed, and so is
/// play without the headroom (judge::max_run). Any thread. Errors: of the request.
Result<ModelPlay> play_on_model(const PlayRequest& request,
                                const ProgramFacts& program,
                                double headroom_percent = 0);

/// The streams to play: the parts of a scenario, or a request with its media.
struct PartsToPlay {
    PlayRequest request;
    std::vector<PlayPart> parts;
    std::vector<ScenarioFault> faults;
};
/// The same of parts whose media were found, on another model and with another seed.
Result<ModelPlay> play_on_model(const PartsToPlay& what,
                                const std::shared_ptr<const ClusterModel>& model,
                                std::uint64_t seed,
                                const ProgramFacts& program);

/// At most as long as a preroll of so many streams may take that just play: one read-ahead's time, twice.
Duration preroll_timeout_of(const PlayRequest& request, FrameRate rate);

}  // namespace streamsim::run
