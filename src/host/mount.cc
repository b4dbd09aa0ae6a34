#include "host/mount.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
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

/// An entry of the table of mounts.
struct TableLine {
    std::string_view id, parent, device, options, type, source, more;
    std::string point;
};

/// nullopt: it is none.
std::optional<TableLine> table_line(std::string_view text) {
    // id parent device root point options [optional]... - type source options of the file system
    const std::vector<std::string_view> words = split(text, ' ');
    if (words.size() < 10) return std::nullopt;
    const auto dash = std::find(words.begin() + 6, words.end(), "-");
    // The source may be empty.
    if (words.end() - dash < 4 || dash[1].empty() || dash[3].empty()) return std::nullopt;
    return TableLine{words[0], words[1], words[2], words[5], dash[1], dash[2], dash[3], unescaped(words[4])};
}

/// The mount that a path ends on, of those whose points hold it. On each the way goes on to the first point
/// that a mount covers; the mounts that lie below are hidden. The later of two at one point covers the earlier.
const TableLine* last_on_the_way(const std::vector<TableLine>& lines) {
    const auto begins = [&lines](const TableLine& line) {
        return line.parent == line.id || std::ranges::find(lines, line.parent, &TableLine::id) == lines.end();
    };
    const TableLine* last = nullptr;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const TableLine* next = nullptr;
        for (const TableLine& each : lines) {
            const bool here = last == nullptr ? begins(each) : each.parent == last->id && &each != last;
            if (here && (next == nullptr || each.point.size() <= next->point.size())) next = &each;
        }
        if (next == nullptr) break;
        last = next;
    }
    return last;
}

constexpr unsigned kMountId = 0x1000;  // STATX_MNT_ID, of Linux 5.8

/// 0: the system does not say.
std::uint64_t mount_id_in([[maybe_unused]] const struct statx& facts) {
#ifdef STATX_MNT_ID
    if ((facts.stx_mask & kMountId) != 0) return facts.stx_mnt_id;
#endif
    return 0;
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

std::optional<MountFacts> mount_in(std::string_view table,
                                   std::string_view path,
                                   std::string* device,
                                   std::uint64_t id) {
    std::vector<TableLine> lines;
    for (const std::string_view text : split(table, '\n')) {
        auto line = table_line(text);
        if (line && holds(line->point, path)) lines.push_back(std::move(*line));
    }
    const auto known = std::ranges::find_if(
        lines, [id](const TableLine& each) { return id != 0 && whole_number<std::uint64_t>(each.id) == id; });
    const TableLine* const found = known != lines.end() ? &*known : last_on_the_way(lines);
    if (found == nullptr) return std::nullopt;
    MountFacts out;
    out.point = found->point;
    out.source = unescaped(found->source);
    out.type = found->type;
    out.options = together(unescaped(found->options), unescaped(found->more));
    if (device != nullptr) *device = found->device;
    return out;
}

std::optional<MountFacts> mount_of(const std::string& path) {
    const auto real = canonical(path);
    if (!real) return std::nullopt;
    struct statx facts {};
    (void)statx(AT_FDCWD, real->c_str(), 0, kMountId, &facts);  // tells nothing where it fails
    const auto table = read_proc_text("/proc/self/mountinfo");
    if (!table) return std::nullopt;
    std::string device;
    auto mount = mount_in(*table, *real, &device, mount_id_in(facts));
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

std::vector<std::optional<CachedPart>> cached_parts(const char* path, std::span<const FileRange> ranges) {
    std::vector<std::optional<CachedPart>> parts(ranges.size());
    const FileHandle file(path);
    for (std::size_t i = 0; file.fd() >= 0 && i < ranges.size(); ++i)
        parts[i] = cached_part_of(file.fd(), ranges[i].offset, ranges[i].bytes);
    return parts;
}

PlaceAnswer place_identity_of(const std::string& path) {
    struct statx facts {};
    // Asks the server, past the attribute cache.
    if (statx(AT_FDCWD, path.c_str(), AT_STATX_FORCE_SYNC, STATX_TYPE | STATX_INO | kMountId, &facts) != 0)
        return {std::nullopt, errno};
    PlaceIdentity out;
    out.device = makedev(facts.stx_dev_major, facts.stx_dev_minor);
    out.inode = facts.stx_ino;
    out.mount = mount_id_in(facts);
    const std::string number = std::to_string(facts.stx_dev_major) + ":" + std::to_string(facts.stx_dev_minor);
    // An unplugged drive leaves its file system mounted, with the cached part of it.
    out.has_block_device = access(("/sys/dev/block/" + number).c_str(), F_OK) == 0;
    return {out, 0};
}

}  // namespace streamsim::host
