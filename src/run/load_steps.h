// From the results of a workload's steps to the figures of its report.
#pragma once

#include "streamsim/load_result.h"

namespace streamsim::run {

/// `step`: from at_step(), with the result of playing it.
LoadStep load_step(double at, const Workload& step, RunResult result);

/// Compares the figures that the source of the workload printed with the measured ones, by step. A figure of a
/// model is compared only when the steps were played on it. A peak is compared when all steps were played; its
/// `at` is then the step with the largest value.
std::vector<PrintedComparison> compare_with_printed(const Workload& workload,
                                                    const std::vector<LoadStep>& steps);

}  // namespace streamsim::run
