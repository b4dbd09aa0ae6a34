#include "report/text/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kHeadingWidth = 12;
constexpr std::size_t kLastLines = 2;
constexpr std::string_view kCut = "...";

/// The bytes of `text` for a line of `columns` columns: up to the last space that fits, else all that fits.
std::size_t line_bytes(std::string_view text, std::size_t columns) {
    const std::size_t fits = bytes_of_first(text, columns);
    if (fits == text.size() || text[fits] == ' ') return fits;
    const std::size_t space = text.substr(0, fits).rfind(' ');
    return space == std::string_view::npos || space == 0 ? fits : space;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, const Wrap& wrap) {
    std::vector<std::string> lines;
    do {
        const std::string indent(lines.empty() ? 0 : wrap.indent, ' ');
        const std::size_t columns = wrap.columns - std::min(wrap.columns - 1, indent.size());
        if (lines.size() + 1 == wrap.lines_max && shown_width(text) > columns) {
            lines.push_back(indent + std::string(text.substr(0, line_bytes(text, columns - kCut.size()))) +
                            std::string(kCut));
            return lines;
        }
        const std::size_t bytes = line_bytes(text, columns);
        lines.push_back(indent + std::string(text.substr(0, bytes)));
        text.remove_prefix(bytes);
        while (text.starts_with(' ')) text.remove_prefix(1);
    } while (!text.empty());
    return lines;
}

std::string with_heading(const ReportLine& line) {
    return fmt::format("{:<{}}{}", line.heading.empty() ? "" : line.heading + " ", kHeadingWidth, line.text);
}

std::size_t TextScreen::left() const {
    return kScreenRows - kLastLines - lines_.size();
}

void TextScreen::add_line(std::string line) {
    if (left() > 0) lines_.push_back(std::move(line));
}

void TextScreen::add_wrapped(const std::string& text, std::size_t indent, std::size_t lines_max) {
    if (left() == 0) return;
    for (std::string& line : wrapped(text, {.indent = indent, .lines_max = std::min(lines_max, left())}))
        lines_.push_back(std::move(line));
}

void TextScreen::add_text(std::string_view text, std::size_t lines_max) {
    add_wrapped(std::string(text), 2, lines_max);
}

void TextScreen::add(const ReportLine& line, std::size_t lines_max, std::size_t reserved) {
    if (left() > reserved)
        add_wrapped(with_heading(line), kHeadingWidth, std::min(lines_max, left() - reserved));
}

void TextScreen::add_cut_table(Table table, std::size_t reserved) {
    const std::size_t all = table.rows.size();
    const std::size_t rows = left() - std::min(left(), reserved);
    if (rows < 2 || all == 0) return;
    if (all + 1 > rows) table.rows.resize(rows - std::min<std::size_t>(rows, 2));
    const std::string text = table_lines(table, Column::Form::screen, kScreenColumns);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        add_line(text.substr(at, end - at));
        at = end + 1;
    }
    if (all > table.rows.size())
        add_line(fmt::format("  and {} more: -v", show_count(all - table.rows.size())));
}

void TextScreen::paint(std::size_t bytes, std::string_view colour, std::string_view plain) {
    lines_.front().insert(std::min(bytes, lines_.front().size()), plain);
    lines_.front().insert(0, colour);
}

std::string TextScreen::text() const {
    std::string out;
    for (const std::string& line : lines_) out += line + "\n";
    return fmt::format("{}Whole report: -v. Files: {}\n{}\n", out, files_, closing_);
}

}  // namespace streamsim::report
