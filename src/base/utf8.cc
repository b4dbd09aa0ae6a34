#include "base/utf8.h"

#include <algorithm>

namespace streamsim {

Utf8Character first_character(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
    std::uint32_t code = lead & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        code = code << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::uint32_t kCodeMin[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < kCodeMin[bytes] || code > 0x10ffff || surrogate) return {};
    return {code, bytes};
}

bool is_control(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

namespace {

/// U+061C, U+200E and U+200F, U+202A to U+202E and U+2066 to U+2069 turn the direction of what follows; U+2028
/// and U+2029 end a line; U+200B and U+FEFF have no width.
bool is_hidden(std::uint32_t code) {
    return code == 0x61c || code == 0x200b || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

void append_hex(std::uint32_t value, int digits, std::string& out) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (int i = digits; i-- > 0;) out += kDigits[value >> (4 * i) & 0xf];
}

void append_printable(std::string_view& text, std::string& out) {
    const Utf8Character character = first_character(text);
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    if (character.bytes == 0 || (is_control(character.code) && bytes == 1)) {
        out += "\\x";
        append_hex(static_cast<unsigned char>(text.front()), 2, out);
    } else if (is_control(character.code) || is_hidden(character.code)) {
        out += "\\u";
        append_hex(character.code, 4, out);
    } else {
        out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
}

/// The length of "ESC [ numbers m", which sets colour and weight, at the beginning of `text`; 0: it is none.
std::size_t paint_bytes(std::string_view text) {
    constexpr std::size_t kPaintBytesMax = 12;
    if (!text.starts_with("\x1b[")) return 0;
    const std::size_t end = text.substr(0, kPaintBytesMax).find_first_not_of("0123456789;", 2);
    return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

bool continues_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

std::string printable(std::string_view text) {
    std::string out;
    while (!text.empty()) append_printable(text, out);
    return out;
}

std::string printable_lines(std::string_view text, bool painted) {
    std::string out;
    while (!text.empty()) {
        const std::size_t kept = text.front() == '\n' ? 1 : painted ? paint_bytes(text) : 0;
        if (kept == 0) {
            append_printable(text, out);
        } else {
            out += text.substr(0, kept);
            text.remove_prefix(kept);
        }
    }
    return out;
}

std::size_t shown_width(std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_character));
}

std::size_t bytes_of_first(std::string_view text, std::size_t characters) {
    std::size_t at = 0;
    for (; at < text.size() && characters > 0; --characters) {
        ++at;
        while (at < text.size() && continues_character(text[at])) ++at;
    }
    return at;
}

}  // namespace streamsim
