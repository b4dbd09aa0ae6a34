#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/path.h"
#include "base/system/whole_file.h"

namespace streamsim {
namespace {

/// Returns the error as strerror(3) words it; empty: success.
std::string write_piece(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return std::strerror(errno);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

/// Writes what `source` gives to the disk.
std::string write_all(int file, const TextSource& source) {
    std::string problem;
    source([&problem, file](std::string_view piece) {
        if (problem.empty()) problem = write_piece(file, piece);
    });
    if (problem.empty() && fsync(file) != 0) problem = std::strerror(errno);
    return problem;
}

/// Why the existing file of this name must not be replaced; empty: it may be replaced, or no file has the name.
std::string why_kept(int directory, const std::string& name) {
    struct stat info {};
    if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? "" : std::strerror(errno);
    if (S_ISLNK(info.st_mode)) return "found a symbolic link, expected an earlier journal";
    if (!S_ISREG(info.st_mode)) return "found something that is no file, expected an earlier journal";
    return info.st_nlink == 1 ? ""
                              : "found a file with several names (hard links), expected an earlier journal";
}

std::string write_in(int directory,
                     const std::string& temporary,
                     const std::string& name,
                     const TextSource& source) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    const int file = ::openat(directory, temporary.c_str(), kFlags, 0644);
    if (file < 0) return std::strerror(errno);
    std::string problem;
    try {
        problem = write_all(file, source);
    } catch (...) {
        ::close(file);
        ::unlinkat(directory, temporary.c_str(), 0);
        throw;
    }
    if (::close(file) != 0 && problem.empty()) problem = std::strerror(errno);
    if (problem.empty()) problem = why_kept(directory, name);
    if (problem.empty() && ::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0)
        problem = std::strerror(errno);
    if (!problem.empty()) ::unlinkat(directory, temporary.c_str(), 0);
    return problem;
}

}  // namespace

std::string write_whole(const std::string& temporary, const std::string& path, const TextSource& source) {
    const int directory = ::open(parent_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return std::strerror(errno);
    std::string problem = write_in(directory, base_name(temporary), base_name(path), source);
    ::close(directory);
    return problem;
}

}  // namespace streamsim
