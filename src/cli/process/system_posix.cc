#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "cli/process/system.h"

namespace streamsim::cli {
namespace {

/// Opens the descriptors 0 to 2 where they are closed: the next file that is opened would become standard
/// output, and a result would be written over it.
void open_standard_descriptors() {
    for (const int standard : {0, 1, 2}) {
        if (fcntl(standard, F_GETFD) != -1 || errno != EBADF) continue;
        // Writing to standard output fails, as it does where it is closed; what goes to standard error is lost.
        (void)open("/dev/null", standard == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
}

void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t count_free_descriptors(std::size_t most) {
    std::vector<int> opened;
    while (opened.size() < most) {
        const int file = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
        if (file < 0) break;
        opened.push_back(file);
    }
    for (const int file : opened) close(file);
    return opened.size();
}

}  // namespace

std::vector<std::string> begin_program(int argc, const char* const* argv) {
    open_standard_descriptors();
    std::signal(SIGPIPE, SIG_IGN);
    return {argv, argv + argc};
}

bool standard_output_is_open() {
    const int flags = fcntl(STDOUT_FILENO, F_GETFL);
    return flags != -1 && (flags & O_ACCMODE) != O_RDONLY;
}

std::size_t free_descriptors(std::size_t most) {
    const std::size_t found = count_free_descriptors(most);
    if (found == most) return found;
    raise_descriptor_limit();
    return count_free_descriptors(most);
}

void use_one_heap() {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}

std::FILE* open_output(const std::string& path, bool is_new) {
    return std::fopen(path.c_str(), is_new ? "wxe" : "we");
}

std::FILE* open_descriptor(int descriptor) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    std::FILE* const file = copy < 0 ? nullptr : fdopen(copy, "w");
    if (file == nullptr && copy >= 0) {
        const int error = errno;
        close(copy);
        errno = error;
    }
    return file;
}

std::FILE* open_secret(const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return file < 0 ? nullptr : fdopen(file, "w");
}

int to_disk(std::FILE* file) {
    if (fsync(fileno(file)) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
    return errno;
}

int name_new(const std::string& temporary, const std::string& path) {
    if (link(temporary.c_str(), path.c_str()) == 0) return unlink(temporary.c_str()) == 0 ? 0 : errno;
    if (errno == EEXIST) return errno;
    // This file system has no links (FAT, some network ones): between these two another may still appear.
    struct stat info {};
    if (lstat(path.c_str(), &info) == 0) return EEXIST;
    return replace_file(temporary, path);
}

int replace_file(const std::string& temporary, const std::string& path) {
    return rename(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
}

FileIdentity identity_of(const std::string& path) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) return {};
    std::error_code error;
    const auto written = std::filesystem::last_write_time(path, error).time_since_epoch();
    return {true, static_cast<std::uint64_t>(info.st_dev), std::uint64_t{info.st_ino},
            static_cast<std::uint64_t>(info.st_size),
            std::chrono::duration_cast<std::chrono::nanoseconds>(written).count()};
}

}  // namespace streamsim::cli
