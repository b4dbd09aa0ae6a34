#include <filesystem>

#include "base/system/utf8_path.h"
#include "storage/local/uv_files.h"

namespace streamsim::storage {

std::string native_path(const std::string& path) {
    constexpr std::size_t kPlainLengthMax = 240;  // longer paths need a prefix, which forbids '/', "." and ".."
    const std::string named = path.size() == 2 && path[1] == ':' ? path + '/' : path;
    if (named.size() < kPlainLengthMax || named.starts_with("//?/") || named.starts_with("//./")) return named;
    std::error_code error;
    const auto absolute = std::filesystem::absolute(utf8_path(named), error);
    if (error) return named;
    const std::string text = std::filesystem::path(absolute.lexically_normal()).make_preferred().string();
    return text.starts_with("\\\\") ? "\\\\?\\UNC\\" + text.substr(2) : "\\\\?\\" + text;
}

}  // namespace streamsim::storage
