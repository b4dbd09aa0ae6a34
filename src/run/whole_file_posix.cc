#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "run/whole_file.h"

namespace streamsim {
namespace {

/// As strerror(3) says it; empty: it was written, and is on the disk.
std::string write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return std::strerror(errno);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return fdatasync(file) == 0 ? "" : std::strerror(errno);
}

}  // namespace

std::string write_whole(const std::string& temporary, const std::string& path, const std::string& text) {
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file < 0) return std::strerror(errno);
    std::string problem = write_all(file, text);
    if (::close(file) != 0 && problem.empty()) problem = std::strerror(errno);
    if (problem.empty() && ::rename(temporary.c_str(), path.c_str()) != 0) problem = std::strerror(errno);
    return problem;
}

}  // namespace streamsim
