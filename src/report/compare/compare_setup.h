// What a result was set up as, in words. Inside report/ only.
#pragma once

#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// One property of the set-up.
struct SetupFact {
    const char* what;
    std::string value;
    bool of_setup;  // results that agree in all of these are runs of one set-up
};

/// The same properties in the same order for every result.
std::vector<SetupFact> setup_facts(const RunResult& result);

}  // namespace streamsim::report
