// The file system that a path is on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::host {

/// nullopt: the path does not exist, or this system does not list its mounts. For a network file system with
/// the mount options, and the kernel's read-ahead.
std::optional<MountFacts> mount_of(const std::string& path);

/// The entry of a table like /proc/self/mountinfo that holds `path`, which has no symbolic links in it.
/// `device`, unless null, gets the device number, "0:45".
std::optional<MountFacts> mount_in(std::string_view table,
                                   std::string_view path,
                                   std::string* device = nullptr);

/// The process that serves the FUSE file system of `path`; nullopt: another file system, or an invisible
/// process.
std::optional<int> fuse_server_of(const std::string& path);

/// Bytes of the file in this computer's page cache; nullopt: unknown.
std::optional<std::uint64_t> cached_bytes(const char* path);

}  // namespace streamsim::host
