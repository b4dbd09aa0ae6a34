// What is done by name, on every system by libuv, whose calls are the system's own. In a pool's thread.
#include <iterator>
#include <string>

#include "storage/local/local_file.h"
#include "storage/local/native_path.h"
#include "storage/local/uv_errno.h"
#include "storage/local/uv_request.h"

namespace streamsim::storage {
namespace {

constexpr int kNewDirectoryMode = 0777;  // without what the umask takes away

int stat_local(const std::string& path, std::uint64_t& bytes) {
    UvRequest call;
    const int result = uv_fs_stat(nullptr, &call.fs, path.c_str(), nullptr);
    constexpr std::uint64_t kKind = 0170000;
    constexpr std::uint64_t kRegular = 0100000;
    const uv_stat_t& info = call.fs.statbuf;
    if (result == 0 && (info.st_mode & kKind) == kRegular) bytes = info.st_size;
    return result;
}

int list_local(const std::string& path, std::uint64_t& entries) {
    UvRequest opening;
    int result = uv_fs_opendir(nullptr, &opening.fs, path.c_str(), nullptr);
    if (result < 0) return result;
    auto* const directory = static_cast<uv_dir_t*>(opening.fs.ptr);
    uv_dirent_t some[128];
    directory->dirents = some;
    directory->nentries = std::size(some);
    do {
        UvRequest reading;
        result = uv_fs_readdir(nullptr, &reading.fs, directory, nullptr);
        if (result > 0) entries += static_cast<std::uint64_t>(result);
    } while (result > 0);
    UvRequest closing;
    uv_fs_closedir(nullptr, &closing.fs, directory, nullptr);
    return result;
}

int remove_local(const std::string& path) {
    UvRequest unlinking;
    const int result = uv_fs_unlink(nullptr, &unlinking.fs, path.c_str(), nullptr);
    if (result != UV_EISDIR && result != UV_EPERM) return result;
    UvRequest removing;
    const int as_directory = uv_fs_rmdir(nullptr, &removing.fs, path.c_str(), nullptr);
    return as_directory == UV_ENOTDIR ? result : as_directory;
}

int call_local(PathOp& op) {
    const std::string path = native_path(op.path);
    UvRequest call;
    switch (op.kind) {
        case PathOp::Kind::stat: return stat_local(path, op.bytes);
        case PathOp::Kind::list: return list_local(path, op.entries);
        case PathOp::Kind::make_directory:
            return uv_fs_mkdir(nullptr, &call.fs, path.c_str(), kNewDirectoryMode, nullptr);
        case PathOp::Kind::remove: return remove_local(path);
        case PathOp::Kind::rename: {
            const std::string to = native_path(op.to);
            return uv_fs_rename(nullptr, &call.fs, path.c_str(), to.c_str(), nullptr);
        }
    }
    return UV_EINVAL;
}

}  // namespace

void perform_local(PathOp& op) {
    op.bytes = 0;
    op.entries = 0;
    const int result = call_local(op);
    op.error = result < 0 ? errno_of_uv(result) : 0;
}

}  // namespace streamsim::storage
