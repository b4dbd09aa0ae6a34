#include <fmt/format.h>

#include <cerrno>

#include "storage/local/beneath.h"

namespace streamsim::storage {

std::string_view Beneath::below(std::string_view directory, std::string_view path) {
    while (directory.size() > 1 && directory.ends_with('/')) directory.remove_suffix(1);
    if (!path.starts_with(directory)) return {};
    path.remove_prefix(directory.size());
    if (!directory.ends_with('/') && !path.starts_with('/')) return {};
    while (path.starts_with('/')) path.remove_prefix(1);
    return path;
}

int Beneath::remove(const std::string& path) const {
    const int error = remove_file(path);
    if (error != EISDIR && error != EPERM) return error;
    const int as_directory = remove_directory(path);
    return as_directory == ENOTDIR ? error : as_directory;
}

std::string describe(const FileInfo& facts) {
    if (facts.symbolic_link) return "a symbolic link";
    if (facts.directory) return "a directory";
    if (facts.other) return "a device, FIFO or socket";
    return facts.links == 1 ? "a file" : fmt::format("a file with {} names (hard links)", facts.links);
}

int unsuitable(const FileInfo& facts, bool to_write) {
    if (facts.symbolic_link) return ELOOP;
    if (facts.directory) return EISDIR;
    if (facts.other) return EOPNOTSUPP;
    return to_write && facts.links > 1 ? EMLINK : 0;
}

}  // namespace streamsim::storage
