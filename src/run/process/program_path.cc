#include "run/process/program_path.h"

#include <uv.h>

#include <string>

#include "base/system/utf8_path.h"

namespace streamsim::run {

std::filesystem::path program_path() {
    constexpr std::size_t kLongest = 32768;  // of any system
    std::string path(kLongest, '\0');
    std::size_t size = path.size();
    if (uv_exepath(path.data(), &size) != 0) return {};
    path.resize(size);
    return utf8_path(path);
}

}  // namespace streamsim::run
