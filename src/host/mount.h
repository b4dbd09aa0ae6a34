// The file system that a path is on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::host {

/// nullopt: the path is not there, or this system does not list its mounts. Of a network file system with what
/// its options say, and what the kernel reads ahead.
std::optional<MountFacts> mount_of(const std::string& path);

/// The entry of a table in the form of /proc/self/mountinfo that holds `path`, which is without links; `device`
/// is given its number, "0:45", where it is not null.
std::optional<MountFacts> mount_in(std::string_view table,
                                   std::string_view path,
                                   std::string* device = nullptr);

/// The process that serves a FUSE file system that `path` is on; nullopt: it is on none, or may not be seen.
std::optional<int> fuse_server_of(const std::string& path);

/// So many bytes of the file are in this computer's page cache; nullopt: it cannot be said.
std::optional<std::uint64_t> cached_bytes(const char* path);

}  // namespace streamsim::host
