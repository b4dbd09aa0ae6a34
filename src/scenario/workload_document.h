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

/// The surroundings of a meter while it is read.
struct MeterContext {
    Duration longest;             // length of the run, which ends the meter too
    std::uint32_t seats = 1;      // seats with this meter in the largest step
    std::uint32_t users_max = 0;  // in the largest step, where the steps say how many; 0: as it says itself
};

/// Reads one element of "meters". The result is valid only when the call adds nothing to `problems`.
MeterSpec read_meter(const Json& value,
                     const std::string& pointer,
                     const MeterContext& context,
                     JsonProblems& problems);

}  // namespace streamsim::scenario
