// The result of a run that was interrupted before it played anything.
#pragma once

#include <string>
#include <vector>

#include "run/plan/play_request.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// The build of this program and its command line.
struct ProgramFacts {
    std::string version;
    std::string revision;
    std::vector<std::string> command;
};

RunResult not_played(const PlayRequest& request, const ProgramFacts& program);

}  // namespace streamsim::run
