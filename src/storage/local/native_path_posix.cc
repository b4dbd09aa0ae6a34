#include "storage/local/uv_files.h"

namespace streamsim::storage {

std::string native_path(const std::string& path) {
    return path;
}

}  // namespace streamsim::storage
