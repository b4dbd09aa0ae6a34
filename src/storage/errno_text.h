// Errors of the operating system as sentences, and their names as people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace streamsim {

/// "cannot <action> <path>: no space left on device (ENOSPC): <what to do>", an environment error.
Error file_error(int error, std::string_view action, const std::string& path);

/// EIO for "EIO". Nothing for what is not an errno here.
std::optional<int> errno_from_name(std::string_view name);

}  // namespace streamsim
