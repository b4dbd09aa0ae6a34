// Which differences are changes whatever the noise of a figure is. Inside report/ only.
#pragma once

#include <cstdint>

#include "streamsim/run_result.h"

namespace streamsim::report {

enum class FigureKind { other, misses, margin, percentile };

/// One run passed and the other failed, and both were played to their end.
bool pass_and_failure(const RunResult& a, const RunResult& b);

/// The rule of compare.h for one figure of two runs.
bool clearly_differs(FigureKind kind, const RunResult& a, const RunResult& b, double before, double after);

/// Frames that were due; at least 1. Counts of runs of different lengths are compared per frame that was due.
double frames_due(const RunResult& run);

}  // namespace streamsim::report
