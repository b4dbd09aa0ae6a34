// Workloads as JSON (schema "streamsim.workload", formats/schema/workload.json), read strictly.
#pragma once

#include <string>
#include <string_view>

#include "base/document/json.h"
#include "base/result.h"
#include "streamsim/workload.h"

namespace streamsim::scenario {

/// Errors: bad input, every problem with `source` and its JSON pointer.
Result<Workload> read_workload(std::string_view text, const std::string& source);

/// Where a meter stands that is read.
struct MeterPlace {
    Duration longest;             // how long it can run; it ends by then
    std::uint32_t seats = 1;      // that have it, in the largest step
    std::uint32_t users_max = 0;  // in the largest step, where the steps say how many; 0: as it says itself
};

/// One element of "meters". What is wrong is noted in `problems`, and what is returned is of use only where
/// nothing was.
MeterSpec read_meter(const Json& value,
                     const std::string& pointer,
                     const MeterPlace& place,
                     JsonProblems& problems);

}  // namespace streamsim::scenario
