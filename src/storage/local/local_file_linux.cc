#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "storage/local/linux_calls.h"
#include "storage/local/local_file.h"
#include "storage/local/local_options.h"

namespace streamsim::storage {

OpenedFile open_local(const char* path, Access access, bool direct) {
    const int file = open_at(AT_FDCWD, path, open_flags(access, direct));
    return {file, file < 0 ? errno : 0};
}

DirectAnswer direct_answer(int file) {
    struct statx answer {};  // zeroes where it fails
    (void)statx(file, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_DIOALIGN, &answer);
    return direct_answer(answer, file);
}

LocalPiece read_local(int file, std::uint64_t offset, std::span<std::byte> into) {
    for (;;) {
        const ssize_t got = pread(file, into.data(), into.size(), static_cast<off_t>(offset));
        if (got >= 0) return {static_cast<std::size_t>(got), 0};
        if (errno != EINTR) return {0, errno};
    }
}

LocalPiece write_local(int file, std::uint64_t offset, std::span<const std::byte> from) {
    for (;;) {
        const ssize_t put = pwrite(file, from.data(), from.size(), static_cast<off_t>(offset));
        if (put >= 0) return {static_cast<std::size_t>(put), 0};
        if (errno != EINTR) return {0, errno};
    }
}

int sync_local(int file) {
    int result = 0;
    do {
        result = fsync(file);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

void read_ahead_local(int file, std::uint64_t offset, std::uint64_t bytes) {
    posix_fadvise(file, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

void close_local(int file) {
    ::close(file);
}

void set_environment(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 0);
}

std::uint32_t direct_alignment(const std::string& file) {
    struct statx answer {};
    if (statx(AT_FDCWD, file.c_str(), AT_STATX_DONT_SYNC, STATX_DIOALIGN, &answer) != 0) return kUsualAlignment;
    const DirectAnswer told = direct_answer(answer, kNoFile);
    return told.told ? std::max<std::uint32_t>(told.alignment, 1) : kUsualAlignment;
}

void raise_open_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);  // if refused, opens beyond the old limit fail with EMFILE
}

}  // namespace streamsim::storage
