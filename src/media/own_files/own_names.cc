#include "media/own_files/own_names.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/path.h"

namespace streamsim::media {

std::string media_root(const std::string& target) {
    return join_path(target, kMediaDirectory);
}

std::string id_text(std::uint64_t id) {
    return fmt::format("{:016x}", id);
}

std::optional<std::uint64_t> parse_id(std::string_view text) {
    return text.size() == 16 ? whole_number<std::uint64_t>(text, 16) : std::nullopt;
}

bool is_id(std::string_view text) {
    const auto id = parse_id(text);
    return id && id_text(*id) == text;
}

std::string partial_suffix(std::uint64_t run) {
    return fmt::format(".{}{}", id_text(run), kPartial);
}

bool take_id_and(std::string_view ending, std::string_view& name) {
    if (!name.ends_with(ending)) return false;
    const std::string_view rest = name.substr(0, name.size() - ending.size());
    const std::size_t dot = rest.rfind('.');
    if (dot == std::string_view::npos || !is_id(rest.substr(dot + 1))) return false;
    name = rest.substr(0, dot);
    return true;
}

bool take_partial(std::string_view& name) {
    if (take_id_and(kPartial, name)) return true;
    if (!name.ends_with(kPartial)) return false;
    name.remove_suffix(kPartial.size());
    return true;
}

}  // namespace streamsim::media
