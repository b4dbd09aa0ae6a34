// The file system that a path is on, and what the path names there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/page_cache.h"
#include "streamsim/run_result.h"

namespace streamsim::host {

/// nullopt: the path does not exist, or this system does not list its mounts. For a network file system with
/// the mount options, and the kernel's read-ahead.
std::optional<MountFacts> mount_of(const std::string& path);

/// The entry of a table like /proc/self/mountinfo that holds `path`, which has no symbolic links in it: the one
/// with the number `id`, where there is one. `device`, unless null, gets the device number, "0:45".
std::optional<MountFacts> mount_in(std::string_view table,
                                   std::string_view path,
                                   std::string* device = nullptr,
                                   std::uint64_t id = 0);

/// The process that serves the FUSE file system of `path`; nullopt: another file system, or an invisible
/// process.
std::optional<int> fuse_server_of(const std::string& path);

/// The parts of a file's ranges that are in this computer's page cache; nullopt: unknown. Opens the file once.
std::vector<std::optional<CachedPart>> cached_parts(const char* path, std::span<const FileRange> ranges);

/// The same of one range, by default of the whole file.
inline std::optional<CachedPart> cached_part(const char* path,
                                             std::uint64_t offset = 0,
                                             std::uint64_t bytes = UINT64_MAX) {
    const FileRange range{offset, bytes};
    return cached_parts(path, {&range, 1}).front();
}

/// The identity of a directory or a file, which a later one of the same name does not have.
struct PlaceIdentity {
    std::uint64_t device = 0, inode = 0;
    std::uint64_t mount = 0;        // of this mount namespace; 0: the system does not say
    bool has_block_device = false;  // the device that the system lists under the number `device`

    bool operator==(const PlaceIdentity&) const = default;
};

struct PlaceAnswer {
    std::optional<PlaceIdentity> identity;
    int error = 0;  // errno: the path names none
};

/// Follows links. May block for as long as the file system does.
PlaceAnswer place_identity_of(const std::string& path);

}  // namespace streamsim::host
