// The meters in the result of a run.
#pragma once

#include "run/conclude/run_facts.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// Fills in the meters' results and their rows of operations: by seat.
void fill_meters(const RunFacts& facts, RunResult& result);

}  // namespace streamsim::run
