// Results as text, in UTF-8. Each text begins and ends with the verdict or the numbers found. Names from
// outside are shown without their control characters.
#pragma once

#include <string>

#include "streamsim/load_result.h"
#include "streamsim/max_result.h"
#include "streamsim/prediction_result.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

enum class TextDetail {
    screen,  // at most 24 lines of 80 columns
    full,    // every line and table
};

/// On one screen: verdict, cause, what to do next, key figures, the worst streams. ANSI colours only if
/// `colour`. The full report cuts long tables after the worst rows and says how many are left out.
std::string text_report(const RunResult& result, TextDetail detail, bool colour);

/// A workload. On one screen: the steps, cut after some rows. In full also the tables of clients, of transfer
/// modes, and the figures of the source.
std::string load_text_report(const LoadResult& result, TextDetail detail);

/// A search for the largest number of streams: a row for each format, then why one more does not play and how
/// sure the number is.
std::string max_text_report(const MaxResult& result, TextDetail detail);

/// The answers of a calibrated model. In full also their distributions over the draws.
std::string prediction_text_report(const PredictionResult& result, TextDetail detail);

}  // namespace streamsim::report
