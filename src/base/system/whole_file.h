// A file that is there whole or not at all. Inside run/ only.
#pragma once

#include <string>

namespace streamsim {

/// Writes `text` to `temporary`, a new file beside `path`, to the disk where this system can say so, and gives
/// it the name `path` instead of the file of one name that had it; a link or anything else is left alone.
/// Empty: done; else why not, as strerror(3) says it.
std::string write_whole(const std::string& temporary, const std::string& path, const std::string& text);

}  // namespace streamsim
