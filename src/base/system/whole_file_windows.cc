#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/system/utf8_path.h"
#include "base/system/whole_file.h"

namespace streamsim {

std::string write_whole(const std::string& temporary, const std::string& path, const std::string& text) {
    std::ofstream out(utf8_path(temporary), std::ios::binary);
    out << text;
    out.close();
    if (!out) return std::strerror(errno);
    std::error_code error;
    std::filesystem::rename(utf8_path(temporary), utf8_path(path), error);
    return error ? error.message() : "";
}

}  // namespace streamsim
