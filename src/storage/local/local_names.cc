// Operations by name, on every system by libuv, whose calls map to the system's own. For a pool's thread.
#include <iterator>
#include <string>

#include "storage/local/local_file.h"
#include "storage/local/uv_files.h"

namespace streamsim::storage {
namespace {

constexpr int kNewDirectoryMode = 0777;  // before the umask

int stat_local(const std::string& path, std::uint64_t& bytes) {
    uv_stat_t info{};
    const int result = stat_uv(path, true, info);
    if (result == 0 && is_kind(info, kRegularKind)) bytes = info.st_size;
    return result;
}

int list_local(const std::string& path, std::uint64_t& entries) {
    UvRequest opening;
    int result = uv_fs_opendir(nullptr, &opening.fs, native_path(path).c_str(), nullptr);
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
    const int result = call_uv(uv_fs_unlink, path);
    if (result != UV_EISDIR && result != UV_EPERM) return result;
    const int as_directory = call_uv(uv_fs_rmdir, path);
    return as_directory == UV_ENOTDIR ? result : as_directory;
}

int call_local(PathOp& op) {
    switch (op.kind) {
        case PathOp::Kind::stat: return stat_local(op.path, op.bytes);
        case PathOp::Kind::list: return list_local(op.path, op.entries);
        case PathOp::Kind::make_directory: return call_uv(uv_fs_mkdir, op.path, kNewDirectoryMode);
        case PathOp::Kind::remove: return remove_local(op.path);
        case PathOp::Kind::rename: return call_uv(uv_fs_rename, op.path, native_path(op.to).c_str());
    }
    return UV_EINVAL;
}

}  // namespace

void perform_local(PathOp& op) {
    const int result = call_local(op);
    op.error = result < 0 ? errno_of_uv(result) : 0;
}

}  // namespace streamsim::storage
