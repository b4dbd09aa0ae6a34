// Atomically where the file system can (APFS, HFS+, many servers). Elsewhere the new name is looked at first.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "storage/local/rename_new.h"

namespace streamsim::storage {

int rename_new(const std::string& from, const std::string& to) {
    if (renamex_np(from.c_str(), to.c_str(), RENAME_EXCL) == 0) return 0;
    if (errno != ENOTSUP && errno != EINVAL) return errno;
    struct stat facts {};
    if (lstat(to.c_str(), &facts) == 0) return EEXIST;
    if (errno != ENOENT) return errno;
    return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace streamsim::storage
