// Blocking file calls of libuv, the same on every system. Inside storage/ only.
#pragma once

#include <uv.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/system/errno_name.h"
#include "streamsim/byte_store.h"

namespace streamsim::storage {

/// Converts a path with '/' between its parts to libuv's form in UTF-8. On Windows paths of any length work,
/// and "C:" is the root of the drive.
std::string native_path(const std::string& path);

/// Converts libuv's error codes to errno values; on some systems they differ. REQUIRES: code < 0.
inline int errno_of_uv(int code) {
    return errno_from_name(uv_err_name(code)).value_or(EIO);
}

struct UvRequest {
    UvRequest() = default;
    ~UvRequest() { uv_fs_req_cleanup(&fs); }
    UvRequest(const UvRequest&) = delete;
    UvRequest& operator=(const UvRequest&) = delete;

    uv_fs_t fs{};
};

/// Calls a function of libuv for a path. Returns zero or more, or libuv's error, which is negative.
template <typename Function, typename... Arguments>
int call_uv(Function function, const std::string& path, Arguments... arguments) {
    UvRequest request;
    return function(nullptr, &request.fs, native_path(path).c_str(), arguments..., nullptr);
}

/// As stat(2), or lstat(2) without `follow`. Returns zero, or libuv's error, which is negative.
inline int stat_uv(const std::string& path, bool follow, uv_stat_t& facts) {
    UvRequest request;
    const int result =
        (follow ? uv_fs_stat : uv_fs_lstat)(nullptr, &request.fs, native_path(path).c_str(), nullptr);
    facts = request.fs.statbuf;
    return result;
}

// The kinds in a mode of libuv, on every system.
constexpr std::uint64_t kDirectoryKind = 0040000;
constexpr std::uint64_t kBlockDeviceKind = 0060000;
constexpr std::uint64_t kRegularKind = 0100000;
constexpr std::uint64_t kLinkKind = 0120000;

inline bool is_kind(const uv_stat_t& facts, std::uint64_t kind) {
    return (facts.st_mode & 0170000) == kind;
}

/// The other members of a link are zero.
inline FileInfo info_of(const uv_stat_t& info) {
    FileInfo out;
    out.symbolic_link = is_kind(info, kLinkKind);
    if (out.symbolic_link) return out;
    out.directory = is_kind(info, kDirectoryKind);
    out.other = !is_kind(info, kRegularKind) && !out.directory;
    out.bytes = info.st_size;
    out.modified_s = info.st_mtim.tv_sec;
    out.changed_s = info.st_ctim.tv_sec;
    out.links = info.st_nlink;
    out.file_id = info.st_ino;
    return out;
}

/// As Beneath::list(). Returns zero, or libuv's error, which is negative.
inline int read_directory(const std::string& path, std::vector<DirectoryEntry>& entries) {
    UvRequest request;
    const int count = uv_fs_scandir(nullptr, &request.fs, native_path(path).c_str(), 0, nullptr);
    if (count < 0) return count;
    DirectoryNames names;
    uv_dirent_t found{};
    while (uv_fs_scandir_next(&request.fs, &found) == 0) {
        bool is_directory = found.type == UV_DIRENT_DIR;
        bool is_link = found.type == UV_DIRENT_LINK;
        uv_stat_t facts{};
        if (found.type == UV_DIRENT_UNKNOWN && stat_uv(join_path(path, found.name), false, facts) == 0) {
            is_directory = is_kind(facts, kDirectoryKind);
            is_link = is_kind(facts, kLinkKind);
        }
        names.add(found.name, is_directory, is_link);
    }
    entries = names.sorted();
    return 0;
}

}  // namespace streamsim::storage
