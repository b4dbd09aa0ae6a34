#include "report/html/markup.h"

#include "base/utf8.h"

namespace streamsim::report {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

}  // namespace

std::string markup(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const Utf8Character character = first_character(text);
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

}  // namespace streamsim::report
