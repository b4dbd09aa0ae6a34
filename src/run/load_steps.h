// From the results of a workload's steps to the figures of its report.
#pragma once

#include "streamsim/load_result.h"

namespace streamsim::run {

/// `step`: what was played, as at_step() gave it.
LoadStep load_step(double at, const Workload& step, RunResult result);

/// What was printed at a step that was played, against what was measured there.
std::vector<PrintedComparison> compare_with_printed(const Workload& workload,
                                                    const std::vector<LoadStep>& steps);

}  // namespace streamsim::run
