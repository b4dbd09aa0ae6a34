// A file that is there whole or not at all. Inside run/ only.
#pragma once

#include <string>

namespace streamsim {

/// Writes `text` to `temporary`, to the disk where this system can say so, and gives it the name `path` instead
/// of what had that name. Empty: done; else why not, as strerror(3) says it.
std::string write_whole(const std::string& temporary, const std::string& path, const std::string& text);

}  // namespace streamsim
