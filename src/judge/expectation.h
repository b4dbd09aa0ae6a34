// A result against what its scenario expects.
#pragma once

#include <string>
#include <vector>

#include "streamsim/run_result.h"
#include "streamsim/scenario.h"

namespace streamsim::judge {

/// A sentence for each figure that is not as expected; empty: all are.
std::vector<std::string> surprises(const ScenarioExpectation& expected, const RunResult& result);

}  // namespace streamsim::judge
