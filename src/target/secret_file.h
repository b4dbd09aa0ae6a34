// A file that only its owner may read. Inside target/ only.
#pragma once

#include <string>

#include "base/result.h"

namespace streamsim::target {

/// The text of the file, 64 KiB at most. Checks owner and rights of the open file, not of its name. Errors: bad
/// input, with the file's name: it cannot be read, is no file, is too large, is another user's, or others may
/// read or write it.
Result<std::string> read_secret(const std::string& name);

}  // namespace streamsim::target
