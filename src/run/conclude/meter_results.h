// What meters did, in the result of a run.
#pragma once

#include "run/conclude/result_builder.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// The meters' results, and rows where they were kept: by seat.
void fill_meters(const RunFacts& facts, RunResult& result);

/// Operations that failed fail the verdict, and so does a meter that had no answer at all: what ran beside the
/// streams was not what was asked for. A run of meters alone passes where none failed and something was done.
/// REQUIRES: the verdict on the streams.
void judge_meters(RunResult& result);

}  // namespace streamsim::run
