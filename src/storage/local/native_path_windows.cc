#include "base/system/utf8_path.h"
#include "storage/local/uv_files.h"

namespace streamsim::storage {

std::string native_path(const std::string& path) {
    return utf8_text(system_path(path));
}

}  // namespace streamsim::storage
