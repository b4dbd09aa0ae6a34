// The page cache of local files, on each system. Inside storage/ only.
#pragma once

#include <string>

#include "base/result.h"

namespace streamsim::storage {

/// Evicts an open file from the page cache; dirty pages are written first. `path` is for messages.
Result<void> evict_local(int file, const std::string& path);

}  // namespace streamsim::storage
