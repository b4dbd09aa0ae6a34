#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "storage/errno_text.h"
#include "storage/local/local_cache.h"
#include "storage/local/local_options.h"

namespace streamsim::storage {

Result<void> evict_local(int file, const std::string& path) {
    // Dirty pages cannot be dropped.
    if (fdatasync(file) != 0 && errno != EINVAL && errno != EROFS) return file_error(errno, "sync", path);
    const int error = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    if (error != 0) return file_error(error, "evict", path);
    return {};
}

bool direct_reads_use_cached_pages(std::string_view file_system) {
    return file_system == "btrfs" || file_system == "tmpfs" || file_system == "ramfs";
}

}  // namespace streamsim::storage
