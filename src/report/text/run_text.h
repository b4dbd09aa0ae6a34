// The result of a run as text. It begins and ends with the verdict.
#pragma once

#include <string>

#include "report/text/text_detail.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

/// On one screen: verdict, cause, what to do next, key figures, the worst streams. UTF-8, with ANSI colours
/// only if `colour`. Names from outside are shown without their control characters. The full report cuts long
/// tables after the worst rows and says how many are left out.
std::string text_report(const RunResult& result, TextDetail detail, bool colour);

}  // namespace streamsim::report
