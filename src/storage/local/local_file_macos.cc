// Direct I/O on macOS: F_NOCACHE for the open file. No alignment is demanded; the kernel transfers past the
// page cache what consists of whole pages at page boundaries, in the file and in memory, and copies the rest
// through pages that it drops at once. Pages that are in the cache already are taken from there: evict_local()
// before play.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syslimits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>

#include "storage/file_descriptor.h"
#include "storage/local/local_file.h"
#include "storage/local/local_options.h"

namespace streamsim::storage {
namespace {

constexpr mode_t kNewFileMode = 0666;                        // before the umask
constexpr std::size_t kCallBytesMax = std::size_t{1} << 30;  // pread(2) refuses more than INT_MAX

int open_flags(Access access) {
    if (access == Access::read) return O_RDONLY | O_CLOEXEC;
    return O_RDWR | O_CLOEXEC | (access == Access::write ? 0 : O_CREAT) |
           (access == Access::create_new ? O_EXCL : 0);
}

/// Repeats a call that a signal interrupts.
template <typename Call>
auto uninterrupted(Call call) {
    for (;;) {
        const auto result = call();
        if (result >= 0 || errno != EINTR) return result;
    }
}

LocalPiece piece(ssize_t moved) {
    if (moved < 0) return {0, errno};
    return {static_cast<std::size_t>(moved), 0};
}

}  // namespace

OpenedFile open_local(const char* path, Access access, bool direct) {
    FileDescriptor file(uninterrupted([&] { return ::open(path, open_flags(access), kNewFileMode); }));
    if (!file) return {-1, errno};
    if (direct) {
        if (fcntl(file.get(), F_NOCACHE, 1) != 0) return {-1, EINVAL};
        fcntl(file.get(), F_RDAHEAD, 0);  // refused: the cache holds more, and nothing else changes
    }
    return {file.release(), 0};
}

DirectAnswer direct_answer(int file) {
    struct statfs facts {};
    if (fstatfs(file, &facts) != 0 || (facts.f_flags & MNT_LOCAL) == 0) return {};
    return {true, 1};
}

LocalPiece read_local(int file, std::uint64_t offset, std::span<std::byte> into) {
    const std::size_t bytes = std::min(into.size(), kCallBytesMax);
    return piece(uninterrupted([&] { return pread(file, into.data(), bytes, static_cast<off_t>(offset)); }));
}

LocalPiece write_local(int file, std::uint64_t offset, std::span<const std::byte> from) {
    const std::size_t bytes = std::min(from.size(), kCallBytesMax);
    return piece(uninterrupted([&] { return pwrite(file, from.data(), bytes, static_cast<off_t>(offset)); }));
}

int sync_local(int file) {
    // fsync(2) alone leaves the data in the cache of the drive. Network file systems have no F_FULLFSYNC.
    if (uninterrupted([file] { return fcntl(file, F_FULLFSYNC); }) == 0) return 0;
    if (errno != ENOTSUP && errno != ENOTTY && errno != EINVAL) return errno;
    return uninterrupted([file] { return fsync(file); }) == 0 ? 0 : errno;
}

void read_ahead_local(int file, std::uint64_t offset, std::uint64_t bytes) {
    radvisory range{};
    range.ra_offset = static_cast<off_t>(offset);
    range.ra_count = static_cast<int>(std::min<std::uint64_t>(bytes, std::numeric_limits<int>::max()));
    fcntl(file, F_RDADVISE, &range);
}

void close_local(int file) {
    ::close(file);
}

void set_environment(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 0);
}

std::uint32_t direct_alignment(const std::string& /*file*/) {
    return static_cast<std::uint32_t>(getpagesize());
}

void raise_open_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    // The hard limit is often RLIM_INFINITY, which setrlimit(2) refuses as a soft one.
    const rlim_t most = std::min<rlim_t>(limit.rlim_max, OPEN_MAX);
    if (limit.rlim_cur >= most) return;
    limit.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &limit);  // if refused, opens beyond the old limit fail with EMFILE
}

}  // namespace streamsim::storage
