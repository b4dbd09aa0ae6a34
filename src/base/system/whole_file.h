// Writes a file so that readers see all of it or none of it.
#pragma once

#include <string>

namespace streamsim {

/// Writes `text` to `temporary`, a new file beside `path`, and, where the system can confirm that the text is
/// on the disk, renames it to `path`, replacing a regular file of that name; a link or anything else is left
/// alone. Returns the error as strerror(3) words it; empty: success.
std::string write_whole(const std::string& temporary, const std::string& path, const std::string& text);

}  // namespace streamsim
