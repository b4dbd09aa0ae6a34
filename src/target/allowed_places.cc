#include "target/allowed_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/system/utf8_path.h"

namespace streamsim::target {
namespace {

struct Place {
    std::string name;  // of the run; empty: its own
    std::string path;
};

std::optional<std::vector<Place>>& allowed() {
    static std::optional<std::vector<Place>> places;
    return places;
}

bool& reads_named_files() {
    static bool reads = true;
    return reads;
}

/// "/mnt/media=Z:\\media"; a path that has '=' itself, and the options of a URL, are no name.
Place read_place(const std::string& text) {
    const std::size_t equals = text.find('=');
    std::error_code error;
    if (equals == std::string::npos || equals == 0 || text.find('?') < equals ||
        std::filesystem::exists(system_path(text), error))
        return {"", text};
    return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The path as it is reached without links, "..", or a separator at its end.
std::filesystem::path plain(const std::string& path) {
    std::error_code error;
    auto out = std::filesystem::weakly_canonical(std::filesystem::absolute(system_path(path), error), error);
    if (error) out = std::filesystem::absolute(system_path(path), error).lexically_normal();
    return out.has_filename() ? out : out.parent_path();
}

bool lies_in(const std::filesystem::path& path, const std::filesystem::path& place) {
    if (place.empty()) return false;
    const auto [in_place, in_path] = std::mismatch(place.begin(), place.end(), path.begin(), path.end());
    return in_place == place.end();
}

/// The URL leads to the server of the place: by the same ports, and to no other address than the place names.
bool same_server(const RemotePlace& url, const RemotePlace& place) {
    return url.port == place.port && url.mount_port == place.mount_port &&
           (url.addresses.empty() || url.addresses == place.addresses);
}

bool lies_in_url(const Target& target, const std::string& place) {
    const auto wanted = parse_remote_target(place);
    if (!wanted || !target.remote || !wanted->remote) return false;
    if (!same_server(*target.remote, *wanted->remote)) return false;
    const std::filesystem::path path(target.name());
    return path.lexically_normal() == path && lies_in(path, std::filesystem::path(wanted->name()));
}

}  // namespace

void allow_only(const std::vector<std::string>& places) {
    allowed().emplace();
    for (const std::string& place : places) allowed()->push_back(read_place(place));
}

void read_no_named_files() {
    reads_named_files() = false;
}

bool named_files_are_read() {
    return reads_named_files();
}

Result<void> check_named_file(const std::string& typed) {
    const bool is_file = typed.find_first_of("/\\") != std::string::npos || typed.ends_with(".json");
    if (reads_named_files() || !is_file) return {};
    return bad_input(
        fmt::format("'{}': seats that join read no file that the run names: expected a name of "
                    "streamsim's own",
                    typed));
}

std::vector<std::string> allowed_places() {
    std::vector<std::string> paths;
    for (const Place& place : allowed().value_or(std::vector<Place>())) paths.push_back(place.path);
    return paths;
}

std::string place_here(const std::string& target) {
    for (const Place& place : allowed().value_or(std::vector<Place>())) {
        if (place.name.empty() || !target.starts_with(place.name)) continue;
        const std::string rest = target.substr(place.name.size());
        if (rest.empty() || rest.front() == '/' || rest.front() == '\\' || place.name.ends_with('/'))
            return place.path + rest;
    }
    return target;
}

Result<void> check_allowed(const Target& target) {
    if (!allowed() || !target.has_files()) return {};
    const bool local = target.kind == Target::Kind::local;
    for (const std::string& place : allowed_places()) {
        const bool url = place.find("://") != std::string::npos;
        if (local && !url && lies_in(plain(target.path), plain(place))) return {};
        if (!local && url && lies_in_url(target, place)) return {};
    }
    return bad_input(fmt::format("'{}': is outside of what this seat allows: {}", target.url,
                                 fmt::join(allowed_places(), ", ")));
}

}  // namespace streamsim::target
