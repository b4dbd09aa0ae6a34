// A file that only its owner may read. Inside run/ only.
#pragma once

#include <string>

#include "base/result.h"

namespace streamsim::target {

/// All of it, 64 KiB at most. Owner and rights are those of the file that is open, whatever its name leads to
/// meanwhile. Errors: bad input, with the file's name: it cannot be read, is no file, is too large, is another
/// user's, or others may read or write it.
Result<std::string> read_secret(const std::string& name);

}  // namespace streamsim::target
