// Characters of texts that come from outside and may be anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace streamsim {

struct Utf8Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;  // 0: this is not UTF-8
};

/// The character at the beginning of `text`. Not UTF-8 is also what is longer than it has to be, a surrogate,
/// and what lies beyond U+10FFFF. REQUIRES: !text.empty().
Utf8Character first_character(std::string_view text);

/// Whether a terminal may take it for a command: U+0000 to U+001F, U+007F to U+009F.
bool is_control(std::uint32_t code);

/// A text from outside as a terminal may be given it. A control character and a byte that is not UTF-8 become
/// "\x1b", a character that turns the direction of writing, ends a line or has no width becomes "\u202e".
std::string printable(std::string_view text);

/// The same of a whole page: line ends stay, and with `painted` the sequences that set colour and weight, which
/// are the page's own. Names are made printable() before they come into a page: there they could end a line.
std::string printable_lines(std::string_view text, bool painted);

}  // namespace streamsim
