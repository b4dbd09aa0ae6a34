// Error messages for errors of the operating system.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace streamsim::storage {

/// Returns an environment error: "cannot <action> <path>: no space left on device (ENOSPC): <advice>".
Error file_error(int error, std::string_view action, const std::string& path);

}  // namespace streamsim::storage
