// Checks first that the new name is free: not atomic against other processes, but no other process uses the
// directory of prepare.
#include <cerrno>

#include "storage/local/rename_new.h"
#include "storage/local/uv_files.h"

namespace streamsim::storage {

int rename_new(const std::string& from, const std::string& to) {
    uv_stat_t facts{};
    const int found = stat_uv(to, false, facts);
    if (found == 0) return EEXIST;
    if (found != UV_ENOENT) return errno_of_uv(found);
    const int code = call_uv(uv_fs_rename, from, native_path(to).c_str());
    return code < 0 ? errno_of_uv(code) : 0;
}

}  // namespace streamsim::storage
