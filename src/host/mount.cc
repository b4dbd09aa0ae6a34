#include "host/mount.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/system/page_cache.h"
#include "base/system/proc_text.h"
#include "host/network_mount.h"

namespace streamsim::host {
namespace {

std::optional<std::string> canonical(const std::string& path) {
    std::error_code error;
    const auto found = std::filesystem::canonical(path, error);
    if (error) return std::nullopt;
    return found.string();
}

/// "/mnt" holds "/mnt" and "/mnt/a", not "/mnta".
bool holds(std::string_view point, std::string_view path) {
    if (point == "/") return true;
    return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

/// True: the process has FUSE's device open for the connection `minor`, or for one that it does not name.
bool serves(const std::filesystem::path& process, unsigned minor) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(process / "fd", error)) {
        const auto target = std::filesystem::read_symlink(entry.path(), error);
        if (error || target != "/dev/fuse") continue;
        const std::string facts = read_proc_text(process / "fdinfo" / entry.path().filename()).value_or("");
        const auto connection = number_after(facts, "fuse_connection:");
        if (!connection || *connection == minor) return true;
    }
    return false;
}

/// The table escapes white space as three octal digits: "\\040" is a space.
std::string unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        int value = 0;
        const char* const digits = text.data() + i + 1;
        const bool escape = text[i] == '\\' && i + 3 < text.size() &&
                            std::from_chars(digits, digits + 3, value, 8).ptr == digits + 3;
        out += escape ? static_cast<char>(value) : text[i];
        if (escape) i += 3;
    }
    return out;
}

/// The options of a mount and those of its file system, each once.
std::string together(const std::string& of_mount, const std::string& of_file_system) {
    std::string out = of_mount;
    for (const std::string_view each : split(of_file_system, ',')) {
        const std::string option = "," + std::string(each);
        if (("," + out + ",").find(option + ",") == std::string::npos) out += option;
    }
    return out;
}

class FileHandle {
public:
    explicit FileHandle(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {}
    ~FileHandle() {
        if (fd_ >= 0) close(fd_);
    }
    FileHandle(const FileHandle&) = delete;
    FileHandle& operator=(const FileHandle&) = delete;
    int fd() const { return fd_; }

private:
    int fd_;
};

}  // namespace

std::optional<MountFacts> mount_in(std::string_view table, std::string_view path, std::string* device) {
    std::optional<MountFacts> found;
    for (const std::string_view text : split(table, '\n')) {
        std::istringstream line{std::string(text)};
        // id parent device root point options [optional]... - type source options of the file system
        std::string id, parent, number, root, point, options, word, type, source, more;
        line >> id >> parent >> number >> root >> point >> options;
        while (line >> word && word != "-") continue;
        if (!(line >> type >> source >> more)) continue;
        point = unescaped(point);
        if (!holds(point, path)) continue;
        // The later one of two mounts at one path covers the earlier.
        if (found && point.size() < found->point.size()) continue;
        found = MountFacts{};
        found->point = point;
        found->source = unescaped(source);
        found->type = type;
        found->options = together(unescaped(options), unescaped(more));
        if (device != nullptr) *device = number;
    }
    return found;
}

std::optional<MountFacts> mount_of(const std::string& path) {
    const auto real = canonical(path);
    const auto table = read_proc_text("/proc/self/mountinfo");
    if (!real || !table) return std::nullopt;
    std::string device;
    auto mount = mount_in(*table, *real, &device);
    if (!mount) return std::nullopt;
    describe_share(*mount);
    if (mount->protocol.empty()) return mount;
    const auto kib =
        number_after(read_proc_text("/sys/class/bdi/" + device + "/read_ahead_kb").value_or(""), "");
    if (kib) mount->read_ahead_bytes = *kib * 1024;
    return mount;
}

std::optional<int> fuse_server_of(const std::string& path) {
    const auto mount = mount_of(path);
    if (!mount || !mount->type.starts_with("fuse")) return std::nullopt;
    struct stat facts {};
    if (stat(path.c_str(), &facts) != 0) return std::nullopt;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const auto pid = whole_number<int>(entry.path().filename().native());
        if (pid && *pid != getpid() && serves(entry.path(), minor(facts.st_dev))) return pid;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> cached_bytes(const char* path) {
    const FileHandle file(path);
    return file.fd() < 0 ? std::nullopt : cached_bytes_of(file.fd());
}

PlaceAnswer place_identity_of(const std::string& path) {
    struct statx facts {};
    // Asks the server, past the attribute cache.
    constexpr unsigned kMountId = 0x1000;  // STATX_MNT_ID, of Linux 5.8
    if (statx(AT_FDCWD, path.c_str(), AT_STATX_FORCE_SYNC, STATX_TYPE | STATX_INO | kMountId, &facts) != 0)
        return {std::nullopt, errno};
    PlaceIdentity out;
    out.device = makedev(facts.stx_dev_major, facts.stx_dev_minor);
    out.inode = facts.stx_ino;
#ifdef STATX_MNT_ID
    if ((facts.stx_mask & kMountId) != 0) out.mount = facts.stx_mnt_id;
#endif
    const std::string number = std::to_string(facts.stx_dev_major) + ":" + std::to_string(facts.stx_dev_minor);
    // An unplugged drive leaves its file system mounted, with the cached part of it.
    out.has_block_device = access(("/sys/dev/block/" + number).c_str(), F_OK) == 0;
    return {out, 0};
}

}  // namespace streamsim::host
