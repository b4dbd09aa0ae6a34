// Which storage this streamsim was built with.
#pragma once

#include <string>
#include <vector>

namespace streamsim::storage {

/// Of "uring", "threads", "nfs" and "smb". The makers of the others are there and fail, saying so.
std::vector<std::string> storage_compiled_in();

}  // namespace streamsim::storage
