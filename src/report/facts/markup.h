// Text inside XML and HTML. Inside report/ only.
#pragma once

#include <string>
#include <string_view>

namespace streamsim::report {

/// For a text node or an attribute in double quotes. Characters that XML 1.0 forbids (control characters,
/// U+FFFE, U+FFFF) and bytes that are not UTF-8 become U+FFFD; tabs and line breaks, which a parser would turn
/// into spaces in attributes, are written as references.
std::string markup(std::string_view text);

}  // namespace streamsim::report
