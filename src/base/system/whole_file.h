// Writes a file so that readers see all of it or none of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace streamsim {

/// Gives a whole text to `out`, piece by piece.
using TextSource = std::function<void(const std::function<void(std::string_view piece)>& out)>;

/// Writes the text of `source` to `temporary`, a new file beside `path`, and, where the system can confirm that
/// the text is on the disk, renames it to `path`, replacing a regular file of that name; a link or anything
/// else is left alone. Returns the error as strerror(3) words it; empty: success. An exception of `source` is
/// thrown on; `temporary` is removed then.
std::string write_whole(const std::string& temporary, const std::string& path, const TextSource& source);

}  // namespace streamsim
