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

/// What of a text a terminal may be given: control characters and bytes that are not UTF-8 become "?".
std::string printable(std::string_view text);

}  // namespace streamsim
