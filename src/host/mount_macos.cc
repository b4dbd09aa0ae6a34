// Mounts by statfs(2), which says the type, the source and the flags of a mount, but not the options of its
// file system.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "host/mount.h"
#include "host/network_mount.h"

namespace streamsim::host {
namespace {

struct Flag {
    std::uint32_t bit;
    const char* name;
};

constexpr Flag kFlags[] = {{MNT_SYNCHRONOUS, "sync"}, {MNT_ASYNC, "async"},
                           {MNT_NOEXEC, "noexec"},    {MNT_NOSUID, "nosuid"},
                           {MNT_NODEV, "nodev"},      {MNT_UNION, "union"},
                           {MNT_LOCAL, "local"},      {MNT_JOURNALED, "journaled"},
                           {MNT_NOATIME, "noatime"},  {MNT_AUTOMOUNTED, "automounted"}};

/// As mount(8) names them.
std::string options_of(std::uint32_t flags) {
    std::string out = (flags & MNT_RDONLY) != 0 ? "ro" : "rw";
    for (const Flag& flag : kFlags) {
        if ((flags & flag.bit) != 0) out += std::string(",") + flag.name;
    }
    return out;
}

}  // namespace

std::optional<MountFacts> mount_of(const std::string& path) {
    struct statfs facts {};
    if (statfs(path.c_str(), &facts) != 0) return std::nullopt;
    MountFacts mount;
    mount.point = facts.f_mntonname;
    mount.source = facts.f_mntfromname;
    mount.type = facts.f_fstypename;
    mount.options = options_of(facts.f_flags);
    name_share(mount);
    return mount;
}

/// macFUSE does not say which process serves a file system.
std::optional<int> fuse_server_of(const std::string& /*path*/) {
    return std::nullopt;
}

std::vector<std::optional<CachedPart>> cached_parts(const char* path, std::span<const FileRange> ranges) {
    std::vector<std::optional<CachedPart>> parts(ranges.size());
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return parts;
    for (std::size_t i = 0; i < ranges.size(); ++i)
        parts[i] = cached_part_of(file, ranges[i].offset, ranges[i].bytes);
    close(file);
    return parts;
}

PlaceAnswer place_identity_of(const std::string& path) {
    struct stat facts {};
    struct statfs mount {};
    if (stat(path.c_str(), &facts) != 0 || statfs(path.c_str(), &mount) != 0) return {std::nullopt, errno};
    PlaceIdentity out;
    out.device = static_cast<std::uint64_t>(facts.st_dev);
    out.inode = facts.st_ino;
    const std::string source = mount.f_mntfromname;
    out.has_block_device = source.starts_with("/dev/") && access(source.c_str(), F_OK) == 0;
    return {out, 0};
}

}  // namespace streamsim::host
