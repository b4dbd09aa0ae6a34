// Programs that print what streamsim reads. Inside profile/ only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace streamsim::profile {

/// Runs a program, found on PATH, and gives what it writes to standard output line by line. `line` returns
/// false to end it. Errors: environment, with what it said on standard error.
Result<void> run_for_lines(const std::string& program,
                           const std::vector<std::string>& arguments,
                           const std::function<bool(std::string_view)>& line);
/// True when the program is on PATH.
bool can_run(const std::string& program);

}  // namespace streamsim::profile
