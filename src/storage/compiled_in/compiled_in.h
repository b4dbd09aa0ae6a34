// The storage backends that this streamsim was built with.
#pragma once

#include <string>
#include <vector>

namespace streamsim::storage {

/// A subset of "uring", "threads", "nfs" and "smb". The functions that make the others return an error.
std::vector<std::string> storage_compiled_in();

}  // namespace streamsim::storage
