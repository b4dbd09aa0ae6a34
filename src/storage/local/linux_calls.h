// Calls of local files, their flags and modes. Linux only.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/local/local_file.h"
#include "streamsim/byte_store.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

constexpr mode_t kNewFileMode = 0666;       // before the umask
constexpr mode_t kNewDirectoryMode = 0777;  // before the umask

inline int open_flags(Access access, bool direct) {
    int flags = O_CLOEXEC | (direct ? O_DIRECT : 0);
    switch (access) {
        case Access::read: return flags | O_RDONLY;
        case Access::write: return flags | O_RDWR;
        case Access::create: return flags | O_RDWR | O_CREAT;
        case Access::create_new: return flags | O_RDWR | O_CREAT | O_EXCL;
    }
    return flags;
}

/// As openat(2); repeated when a signal interrupts it.
inline int open_at(int directory, const char* path, int flags, mode_t mode = kNewFileMode) {
    int file = -1;
    do {
        file = ::openat(directory, path, flags | O_CLOEXEC, mode);
    } while (file < 0 && errno == EINTR);
    return file;
}

/// The answer about direct I/O of an open file. `answer`: statx(2)'s, which was asked for with STATX_DIOALIGN,
/// or zeroes. Does not wait for a server, as fstatfs(2) would: only files of a tmpfs have seals.
inline DirectAnswer direct_answer(const struct statx& answer, int file) {
    return {(answer.stx_mask & STATX_DIOALIGN) != 0,
            std::max(answer.stx_dio_mem_align, answer.stx_dio_offset_align), fcntl(file, F_GET_SEALS) >= 0};
}

/// The other members of a link are zero.
inline FileInfo info_of(const struct stat& info) {
    FileInfo out;
    out.symbolic_link = S_ISLNK(info.st_mode);
    if (out.symbolic_link) return out;
    out.directory = S_ISDIR(info.st_mode);
    out.other = !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
    out.bytes = static_cast<std::uint64_t>(info.st_size);
    out.modified_s = info.st_mtim.tv_sec;
    out.changed_s = info.st_ctim.tv_sec;
    out.links = info.st_nlink;
    out.file_id = info.st_ino;
    return out;
}

struct CloseDirectory {
    void operator()(DIR* directory) const { closedir(directory); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

/// Reads `count` entries of a directory, or all, in no order. Returns zero or an errno.
inline int read_entries(DIR* directory, std::size_t count, DirectoryNames& entries) {
    errno = 0;
    while (entries.count() < count) {
        const dirent* const entry = readdir(directory);
        if (entry == nullptr) break;
        const std::string_view name = entry->d_name;
        bool is_directory = entry->d_type == DT_DIR;
        bool is_link = entry->d_type == DT_LNK;
        struct stat info {};
        if (entry->d_type == DT_UNKNOWN &&
            fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
            is_directory = S_ISDIR(info.st_mode);
            is_link = S_ISLNK(info.st_mode);
        }
        if (name != "." && name != "..") entries.add(name, is_directory, is_link);
        errno = 0;
    }
    return errno;
}

/// As Beneath::list(). Returns zero or an errno.
inline int read_directory(DIR* directory, std::vector<DirectoryEntry>& entries) {
    DirectoryNames names;
    const int error = read_entries(directory, SIZE_MAX, names);
    entries = names.sorted();
    return error;
}

/// As renameat(2), but never replaces. Returns zero or an errno; none: the file system has no such call.
inline std::optional<int> rename_anew(int from_directory,
                                      const std::string& from,
                                      int to_directory,
                                      const std::string& to) {
    if (renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return std::nullopt;
    return errno;
}

}  // namespace streamsim::storage
