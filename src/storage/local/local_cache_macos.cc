// macOS has no call that evicts a file. msync(2) with MS_INVALIDATE on a mapping discards its pages; mincore(2)
// says whether that succeeded.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/memory.h"
#include "base/system/page_cache.h"
#include "base/units.h"
#include "storage/errno_text.h"
#include "storage/local/local_cache.h"
#include "storage/local/local_options.h"

namespace streamsim::storage {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 30;

/// Returns zero or an errno.
int invalidate(int file, std::uint64_t from, std::uint64_t bytes) {
    void* const view = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(from));
    if (view == MAP_FAILED) return errno;
    const int error = msync(view, bytes, MS_INVALIDATE) == 0 ? 0 : errno;
    munmap(view, bytes);
    return error;
}

}  // namespace

Result<void> evict_local(int file, const std::string& path) {
    struct stat facts {};
    if (fstat(file, &facts) != 0) return file_error(errno, "look at", path);
    if (fsync(file) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
        return file_error(errno, "sync", path);
    // Whole pages: msync(2) may refuse a part of one.
    const std::uint64_t size =
        align_up(static_cast<std::uint64_t>(facts.st_size), static_cast<std::uint64_t>(getpagesize()));
    for (std::uint64_t from = 0; from < size; from += kWindowBytes) {
        if (const int error = invalidate(file, from, std::min(kWindowBytes, size - from)))
            return file_error(error, "evict", path);
    }
    const std::uint64_t left = cached_part_of(file).value_or(CachedPart{}).cached;
    if (left == 0) return {};
    return environment_error(
        fmt::format("{}: {} of it are still in the page cache of this computer; `sudo purge` empties the cache",
                    path, show_bytes(left)));
}

bool direct_reads_use_cached_pages(std::string_view /*file_system*/) {
    return true;
}

}  // namespace streamsim::storage
