#include "report/markup.h"

#include <cstdint>

namespace streamsim {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;  // 0: this is not UTF-8
};

/// The character at the beginning of `text`, which is not empty: never longer than it has to be, no surrogate.
Character first_of(std::string_view text) {
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
    constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < kLeast[bytes] || code > 0x10ffff || surrogate) return {};
    return {code, bytes};
}

}  // namespace

std::string markup(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const Character character = first_of(text);
        switch (character.code) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\t': out += "&#9;"; break;
            case '\n': out += "&#10;"; break;
            case '\r': out += "&#13;"; break;
            default: {
                const bool forbidden = character.bytes == 0 || character.code < 0x20 ||
                                       character.code == 0xfffe || character.code == 0xffff;
                out += forbidden ? kReplacement : text.substr(0, character.bytes);
            }
        }
        text.remove_prefix(character.bytes == 0 ? 1 : character.bytes);
    }
    return out;
}

}  // namespace streamsim
