#include "base/system/proc_text.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace streamsim {

std::optional<std::string> read_proc_text(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) return std::nullopt;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!line.starts_with(key)) continue;
        const std::size_t digits = line.find_first_of("0123456789", key.size());
        if (digits == std::string_view::npos) return std::nullopt;
        std::uint64_t value = 0;
        const auto parsed = std::from_chars(line.data() + digits, line.data() + line.size(), value);
        return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace streamsim
