// The meters' part of a verdict.
#pragma once

#include "streamsim/run_result.h"

namespace streamsim::judge {

/// Fails the verdict where operations failed or a meter had no answer at all: the load beside the streams was
/// not the one that was asked for. A run of meters alone passes where none failed and at least one operation
/// was done. REQUIRES: result.verdict is the verdict on the streams.
void judge_meters(RunResult& result);

}  // namespace streamsim::judge
