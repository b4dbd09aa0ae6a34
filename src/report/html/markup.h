// Text inside XML and HTML. Inside report/ only.
#pragma once

#include <string>
#include <string_view>

namespace streamsim::report {

/// For a text node or an attribute in double quotes. What XML 1.0 does not allow at all (control characters,
/// U+FFFE, U+FFFF) and what is not UTF-8 becomes U+FFFD; tabs and line breaks, which a parser would make blanks
/// of in attributes, are written as references.
std::string markup(std::string_view text);

}  // namespace streamsim::report
