#include "cli/process/descriptors.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/system/utf8_path.h"

namespace streamsim::cli {

std::optional<int> own_descriptor(const std::string& file) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(system_path(file), error);
    const std::string name = utf8_text(path.filename());
    int descriptor = -1;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (problem != std::errc() || end != name.data() + name.size() || descriptor < 0) return std::nullopt;
    const auto directory = std::filesystem::canonical(path.parent_path(), error);
    for (const char* own : {"/dev/fd", "/proc/self/fd"}) {
        if (directory == std::filesystem::canonical(own, error) && !error) return descriptor;
    }
    return std::nullopt;
}

std::string behind_links(const std::string& path) {
    constexpr int kLinksMax = 40;  // a system follows no more
    std::string file = path;
    for (int i = 0; i < kLinksMax; ++i) {
        if (own_descriptor(file)) break;  // /dev/stdout leads there
        std::error_code error;
        const auto leads_to = std::filesystem::read_symlink(system_path(file), error);
        if (error) break;
        file = utf8_text(utf8_path(file).parent_path() / leads_to);
    }
    return file;
}

bool is_standard_output(const std::string& path) {
    return path == "-" || own_descriptor(behind_links(path)) == STDOUT_FILENO;
}

}  // namespace streamsim::cli
