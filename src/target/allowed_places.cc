#include "target/allowed_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/system/utf8_path.h"

namespace streamsim::target {
namespace {

std::optional<std::vector<std::string>>& allowed() {
    static std::optional<std::vector<std::string>> places;
    return places;
}

/// The path as it is reached without links, "..", or a separator at its end.
std::filesystem::path plain(const std::string& path) {
    std::error_code error;
    auto out = std::filesystem::weakly_canonical(std::filesystem::absolute(system_path(path), error), error);
    if (error) out = std::filesystem::absolute(system_path(path), error).lexically_normal();
    return out.has_filename() ? out : out.parent_path();
}

bool lies_in(const std::filesystem::path& path, const std::filesystem::path& place) {
    const auto [in_place, in_path] = std::mismatch(place.begin(), place.end(), path.begin(), path.end());
    return in_place == place.end();
}

bool lies_in_url(const Target& target, const std::string& place) {
    const auto wanted = parse_remote_target(place);
    if (!wanted || !target.remote || !wanted->remote) return false;
    const std::filesystem::path path(target.name());
    return path.lexically_normal() == path && lies_in(path, std::filesystem::path(wanted->name()));
}

}  // namespace

void allow_only(std::vector<std::string> places) {
    allowed() = std::move(places);
}

std::vector<std::string> allowed_places() {
    return allowed().value_or(std::vector<std::string>());
}

Result<void> check_allowed(const Target& target) {
    if (!allowed() || !target.has_files()) return {};
    const bool local = target.kind == Target::Kind::local;
    for (const std::string& place : *allowed()) {
        const bool url = place.find("://") != std::string::npos;
        if (local && !url && lies_in(plain(target.path), plain(place))) return {};
        if (!local && url && lies_in_url(target, place)) return {};
    }
    return bad_input(
        fmt::format("'{}': is outside of what this seat allows: {}", target.url, fmt::join(*allowed(), ", ")));
}

}  // namespace streamsim::target
