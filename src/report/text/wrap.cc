#include "report/text/wrap.h"

#include <algorithm>

#include "report/text/table_text.h"

namespace streamsim::report {
namespace {

constexpr std::string_view kCut = "...";

/// The bytes of the first `characters` of UTF-8 text.
std::size_t bytes_of(std::string_view text, std::size_t characters) {
    std::size_t at = 0;
    for (; at < text.size() && characters > 0; --characters) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    }
    return at;
}

/// The bytes of `text` for a line of `room` characters: up to the last space that fits, else all that fits.
std::size_t line_bytes(std::string_view text, std::size_t room) {
    const std::size_t fits = bytes_of(text, room);
    if (fits == text.size() || text[fits] == ' ') return fits;
    const std::size_t space = text.substr(0, fits).rfind(' ');
    return space == std::string_view::npos || space == 0 ? fits : space;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, const Wrap& wrap) {
    std::vector<std::string> lines;
    do {
        const std::string indent(lines.empty() ? 0 : wrap.indent, ' ');
        const std::size_t room = wrap.columns - std::min(wrap.columns - 1, indent.size());
        if (lines.size() + 1 == wrap.lines_max && shown_width(text) > room) {
            lines.push_back(indent + std::string(text.substr(0, line_bytes(text, room - kCut.size()))) +
                            std::string(kCut));
            return lines;
        }
        const std::size_t bytes = line_bytes(text, room);
        lines.push_back(indent + std::string(text.substr(0, bytes)));
        text.remove_prefix(bytes);
        while (text.starts_with(' ')) text.remove_prefix(1);
    } while (!text.empty());
    return lines;
}

}  // namespace streamsim::report
