// Paths in this system's form. Inside storage/ only.
#pragma once

#include <string>

namespace streamsim::storage {

/// Converts a path with '/' between its parts to libuv's form in UTF-8. On Windows paths of any length work,
/// and "C:" is the root of the drive.
std::string native_path(const std::string& path);

}  // namespace streamsim::storage
