// Letters, digits and numbers in ASCII, whatever the locale.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace streamsim {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string to_lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = to_lower(c);
    return out;
}

/// The number that the whole text is; nothing where the text is anything else, or a number beyond Number.
template <typename Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// The parts of a text between its separators: one more than there are separators.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at <= text.size(); at += parts.back().size() + 1)
        parts.push_back(text.substr(at, text.find(separator, at) - at));
    return parts;
}

}  // namespace streamsim
