// Errors of the operating system as sentences.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace streamsim::storage {

/// "cannot <action> <path>: no space left on device (ENOSPC): <what to do>", an environment error.
Error file_error(int error, std::string_view action, const std::string& path);

}  // namespace streamsim::storage
