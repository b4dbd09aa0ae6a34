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

std::string describe(const BeneathFacts& facts) {
    switch (facts.kind) {
        case BeneathFacts::Kind::link: return "a symbolic link";
        case BeneathFacts::Kind::directory: return "a directory";
        case BeneathFacts::Kind::other: return "a device, FIFO or socket";
        case BeneathFacts::Kind::file: break;
    }
    return facts.links == 1 ? "a file" : fmt::format("a file with {} names (hard links)", facts.links);
}

int unsuitable(const BeneathFacts& facts, bool to_write) {
    switch (facts.kind) {
        case BeneathFacts::Kind::link: return ELOOP;
        case BeneathFacts::Kind::directory: return EISDIR;
        case BeneathFacts::Kind::other: return EOPNOTSUPP;
        case BeneathFacts::Kind::file: break;
    }
    return to_write && facts.links > 1 ? EMLINK : 0;
}

}  // namespace streamsim::storage
