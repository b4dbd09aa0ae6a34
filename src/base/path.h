// Paths as text with slashes, on every system.
#pragma once

#include <string>
#include <string_view>

namespace streamsim {

/// `directory`/`name`, without a second slash; `name` where the directory is empty.
std::string join_path(const std::string& directory, const std::string& name);

/// "/a" of "/a/b" and of "/a/b/", "/" of "/a", "." of "a". The root stays the root, "" becomes ".", and a drive
/// ("C:", "C:/") stays a drive.
std::string parent_of(std::string_view path);

/// The last component of a path, without trailing slashes.
std::string base_name(std::string_view path);

/// The extension of a name in lower case, without the dot; empty for ".hidden" and "name".
std::string extension_of(std::string_view name);

}  // namespace streamsim
