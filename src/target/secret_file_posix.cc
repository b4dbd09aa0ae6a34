#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "target/credentials.h"

namespace streamsim::target {
namespace {

constexpr std::size_t kFileBytesMax = 64 * 1024;

struct File {
    explicit File(const std::string& name)
        : descriptor(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~File() {
        if (descriptor >= 0) close(descriptor);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    const int descriptor;
};

}  // namespace

Result<std::string> read_secret(const std::string& name) {
    const File file(name);
    struct stat info {};
    if (file.descriptor < 0 || fstat(file.descriptor, &info) != 0)
        return bad_input(fmt::format("{}: cannot be read: {}", name, std::strerror(errno)));
    if (!S_ISREG(info.st_mode)) return bad_input(fmt::format("{}: expected a file", name));
    if (info.st_uid != geteuid()) {
        return bad_input(
            fmt::format("{}: this file belongs to another user (uid {}), who can change it: "
                        "copy it to a file of your own, and chmod 600 it",
                        name, info.st_uid));
    }
    if ((info.st_mode & (S_IRGRP | S_IROTH | S_IWGRP | S_IWOTH)) != 0) {
        const bool readable = (info.st_mode & (S_IRGRP | S_IROTH)) != 0;
        return bad_input(fmt::format("{}: other users than its owner may {} this file: chmod 600 '{}'", name,
                                     readable ? "read" : "write", name));
    }
    std::string text;
    std::array<char, 4096> part{};
    for (;;) {
        const ssize_t got = read(file.descriptor, part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return bad_input(fmt::format("{}: cannot be read: {}", name, std::strerror(errno)));
        if (got == 0) return text;
        text.append(part.data(), static_cast<std::size_t>(got));
        if (text.size() > kFileBytesMax)
            return bad_input(fmt::format("{}: too large for a file of secrets", name));
    }
}

}  // namespace streamsim::target
