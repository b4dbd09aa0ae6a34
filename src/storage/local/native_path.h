// Paths as this system takes them. Inside storage/ only.
#pragma once

#include <string>

namespace streamsim::storage {

/// In UTF-8, as libuv takes it, of a path with '/' between its parts. On Windows: however long it is, and "C:"
/// is the drive's root.
std::string native_path(const std::string& path);

}  // namespace streamsim::storage
