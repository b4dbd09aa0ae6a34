// The result for people. The first line is the verdict and stands alone; the rest is for whoever has to act on
// it.
#pragma once

#include <string>

#include "streamsim/run_result.h"

namespace streamsim {

/// UTF-8 with ANSI colours only where `colour` is true. Names from outside are shown without their control
/// characters. Long tables are cut, and say by how much; the worst rows stay.
std::string text_report(const RunResult& result, bool colour);

/// Its first line alone, without a newline and without colours.
std::string verdict_line(const RunResult& result);

}  // namespace streamsim
