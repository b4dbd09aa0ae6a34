// From the statistics of all loops to one RunResult.
#pragma once

#include "run/conclude/run_facts.h"
#include "run/plan/play_request.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// Fills everything below `target` in the result; program, host and time are the caller's.
void fill_result(const RunFacts& facts, RunResult& result);

/// How the request says it is played: for results of runs that never began, too.
void fill_request(const PlayRequest& request, RunResult& result);

}  // namespace streamsim::run
