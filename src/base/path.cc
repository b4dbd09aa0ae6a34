#include "base/path.h"

#include "base/ascii.h"

namespace streamsim {

std::string join_path(const std::string& directory, const std::string& name) {
    if (directory.empty()) return name;
    return directory.back() == '/' ? directory + name : directory + "/" + name;
}

std::string parent_of(std::string_view path) {
    const auto end = path.find_last_not_of('/');
    if (end == std::string_view::npos) return path.empty() ? "." : "/";
    const auto slash = path.rfind('/', end);
    if (slash == std::string_view::npos) return end == 1 && path[1] == ':' ? std::string(path) : ".";
    const auto last = path.find_last_not_of('/', slash);
    return last == std::string_view::npos ? "/" : std::string(path.substr(0, last + 1));
}

std::string base_name(std::string_view path) {
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    const std::size_t slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string extension_of(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return "";
    return to_lower(name.substr(dot + 1));
}

}  // namespace streamsim
