#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/system/utf8_path.h"
#include "base/system/whole_file.h"

namespace streamsim {

std::string write_whole(const std::string& temporary, const std::string& path, const TextSource& source) {
    std::ofstream out(system_path(temporary), std::ios::binary);
    try {
        source([&out](std::string_view piece) { out << piece; });
    } catch (...) {
        out.close();
        std::error_code ignored;
        std::filesystem::remove(system_path(temporary), ignored);
        throw;
    }
    out.close();
    if (!out) return std::strerror(errno);
    std::error_code error;
    std::filesystem::rename(system_path(temporary), system_path(path), error);
    return error ? error.message() : "";
}

}  // namespace streamsim
