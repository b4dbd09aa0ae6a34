#include <fmt/format.h>

#include "storage/local/local_cache.h"
#include "storage/local/local_options.h"

namespace streamsim::storage {

Result<void> evict_local(int /*file*/, const std::string& path) {
    return environment_error(
        fmt::format("{}: this streamsim cannot evict files from the page cache of this system", path));
}

bool direct_reads_use_cached_pages(std::string_view /*file_system*/) {
    return false;
}

}  // namespace streamsim::storage
