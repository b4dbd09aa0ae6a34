#include "host/mount.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

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

/// The number behind `key` in a process's description of an open file.
std::optional<std::uint64_t> number_in(const std::filesystem::path& file, std::string_view key) {
    std::ifstream in(file);
    std::string line;
    while (std::getline(in, line)) {
        if (!line.starts_with(key)) continue;
        const std::size_t digits = line.find_first_of("0123456789", key.size());
        std::uint64_t value = 0;
        if (digits == std::string::npos) return std::nullopt;
        std::from_chars(line.data() + digits, line.data() + line.size(), value);
        return value;
    }
    return std::nullopt;
}

/// True: the process has FUSE's device open for the connection `minor`, or for one that it does not name.
bool serves(const std::filesystem::path& process, unsigned minor) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(process / "fd", error)) {
        const auto target = std::filesystem::read_symlink(entry.path(), error);
        if (error || target != "/dev/fuse") continue;
        const auto connection = number_in(process / "fdinfo" / entry.path().filename(), "fuse_connection:");
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
    std::istringstream rest(of_file_system);
    for (std::string each; std::getline(rest, each, ',');) {
        if (("," + out + ",").find("," + each + ",") == std::string::npos) out += "," + each;
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
    while (!table.empty()) {
        const std::size_t end = std::min(table.find('\n'), table.size());
        std::istringstream line{std::string(table.substr(0, end))};
        table.remove_prefix(std::min(end + 1, table.size()));
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
    std::ifstream in("/proc/self/mountinfo");
    if (!real || !in) return std::nullopt;
    const std::string table{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    std::string device;
    auto mount = mount_in(table, *real, &device);
    if (!mount) return std::nullopt;
    describe_share(*mount);
    if (mount->protocol.empty()) return mount;
    const auto kib = number_in("/sys/class/bdi/" + device + "/read_ahead_kb", "");
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
        const std::string name = entry.path().filename();
        int pid = 0;
        const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (bad != std::errc() || end != name.data() + name.size() || pid == getpid()) continue;
        if (serves(entry.path(), minor(facts.st_dev))) return pid;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> cached_bytes(const char* path) {
    const FileHandle file(path);
    struct stat facts {};
    if (file.fd() < 0 || fstat(file.fd(), &facts) != 0 || facts.st_size <= 0) return std::nullopt;
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    constexpr std::uint64_t kWindow = std::uint64_t{1} << 30;
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    std::vector<unsigned char> resident;
    std::uint64_t cached = 0;
    for (std::uint64_t from = 0; from < size; from += kWindow) {
        const std::uint64_t length = std::min(kWindow, size - from);
        void* const view = mmap(nullptr, length, PROT_READ, MAP_SHARED, file.fd(), static_cast<off_t>(from));
        if (view == MAP_FAILED) return std::nullopt;
        resident.assign((length + page - 1) / page, 0);
        const bool told = mincore(view, length, resident.data()) == 0;
        munmap(view, length);
        if (!told) return std::nullopt;
        for (std::size_t i = 0; i < resident.size(); ++i) {
            if ((resident[i] & 1U) != 0) cached += std::min(page, length - i * page);
        }
    }
    return cached;
}

}  // namespace streamsim::host
