#include "report/text/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "report/text/table_text.h"
#include "report/text/wrap.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kHeadingWidth = 12;
constexpr std::size_t kLastLines = 2;
constexpr std::string_view kMore = "Whole report: -v. Files: --html, --json, --csv, --junit";

}  // namespace

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
    const std::size_t room = left() - std::min(left(), reserved);
    if (room < 2 || all == 0) return;
    if (all + 1 > room) table.rows.resize(room - std::min<std::size_t>(room, 2));
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
    out.append(kMore).append("\n");
    return out + closing_ + "\n";
}

}  // namespace streamsim::report
