#include "media/own_files/own_names.h"

#include <fmt/format.h>

#include <charconv>

#include "base/path.h"

namespace streamsim::media {

std::string media_root(const std::string& target) {
    return join_path(target, kMediaDirectory);
}

std::string id_text(std::uint64_t id) {
    return fmt::format("{:016x}", id);
}

std::optional<std::uint64_t> parse_id(std::string_view text) {
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
    if (text.size() != 16 || error != std::errc() || end != text.data() + 16) return std::nullopt;
    return id;
}

std::string partial_suffix(std::uint64_t run) {
    return fmt::format(".{}{}", id_text(run), kPartial);
}

bool take_partial(std::string_view& name) {
    constexpr std::size_t kRunLetters = 1 + 16;
    if (!name.ends_with(kPartial)) return false;
    name.remove_suffix(kPartial.size());
    if (name.size() < kRunLetters) return true;
    const std::string_view run = name.substr(name.size() - kRunLetters);
    if (run[0] == '.' && run.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos)
        name.remove_suffix(kRunLetters);
    return true;
}

}  // namespace streamsim::media
