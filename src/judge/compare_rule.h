// Differences that are changes whatever the noise of a figure is, also where runs of one set-up differ among
// themselves:
//   - the verdict, and the words that go with it, where one run passed and the other failed; and then each
//   count
//     of missed frames (dropped, late, failed, stalls, the share) that is 0 on one side alone, however small;
//   - a margin that is below 0 on one side alone, where it moved by more than a quarter of a frame period or
//   one
//     run passed and the other failed;
//   - a percentile of a latency that changed by a factor of three or more, and by more than a quarter of a
//   frame
//     period.
#pragma once

#include "streamsim/run_result.h"

namespace streamsim::judge {

enum class FigureKind { other, misses, margin, percentile };

/// One run passed and the other failed, and both were played to their end.
bool pass_and_failure(const RunResult& a, const RunResult& b);

/// The rule for one figure of two runs.
bool clearly_differs(FigureKind kind, const RunResult& a, const RunResult& b, double before, double after);

/// The number of frames that were due; at least 1. Counts of runs of different lengths are compared per frame
/// that was due.
double frames_due(const RunResult& run);

}  // namespace streamsim::judge
