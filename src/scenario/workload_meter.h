// Helpers of the readers of a workload's parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/document/json.h"

namespace streamsim::scenario {

/// "name": letters, digits, "-", "_" and ".", as of a file; what it names has a directory and columns of it.
std::string read_load_name(JsonObject& object);

/// A size such as "64KiB", from 1 B to 1 GiB.
std::optional<std::uint64_t> read_block_bytes(const Json& value,
                                              const std::string& pointer,
                                              JsonProblems& problems);

}  // namespace streamsim::scenario
