// Characters of untrusted text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace streamsim {

struct Utf8Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;  // 0: this is not UTF-8
};

/// The character at the beginning of `text`. An overlong form, a surrogate and a character beyond U+10FFFF are
/// not UTF-8 either. REQUIRES: !text.empty().
Utf8Character first_character(std::string_view text);

/// True for the bytes of a character after its first.
bool continues_character(char byte);

/// True for characters that a terminal may take for a command: U+0000 to U+001F, U+007F to U+009F.
bool is_control(std::uint32_t code);

/// Makes untrusted text safe for a terminal. A control character and a byte that is not UTF-8 become "\x1b", a
/// character that turns the direction of writing, ends a line or has no width becomes "\u202e".
std::string printable(std::string_view text);

/// The same for a whole page: line ends stay, and with `painted` the sequences that set colour and weight,
/// which are the page's own. Names are made printable() before they come into a page: there they could end a
/// line.
std::string printable_lines(std::string_view text, bool painted);

/// The number of characters that a terminal shows, apart from wide ones. REQUIRES: UTF-8.
std::size_t shown_width(std::string_view text);
/// The bytes of the first `characters`, or of all if there are fewer. REQUIRES: UTF-8.
std::size_t bytes_of_first(std::string_view text, std::size_t characters);

}  // namespace streamsim
