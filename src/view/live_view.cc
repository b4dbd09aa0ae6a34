#include "view/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "view/terminal.h"

namespace streamsim::view {
namespace {

// Synchronized output: a terminal that knows it shows a draw at once; others ignore it.
constexpr const char* kBegin = "\x1b[?2026h";
constexpr const char* kEnd = "\x1b[?2026l";

const char* code_of(Paint paint) {
    switch (paint) {
        case Paint::plain: return "";
        case Paint::faint: return "\x1b[2m";
        case Paint::strong: return "\x1b[1m";
        case Paint::good: return "\x1b[32m";
        case Paint::warning: return "\x1b[33m";
        case Paint::bad: return "\x1b[31m";
    }
    return "";
}

}  // namespace

bool LiveView::possible(int fd) {
    return terminal_obeys(fd);
}

bool LiveView::colours_wanted(int fd) {
    const char* none = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): nothing sets it
    return possible(fd) && (none == nullptr || *none == '\0');
}

std::vector<Key> LiveView::typed() {
    const std::string text = screen_.typed();
    if (text.empty()) parser_.pause();
    std::vector<Key> others;
    for (const Key key : parser_.feed(text)) {
        if (key == Key::quit || key == Key::add || key == Key::remove || key == Key::begin) {
            others.push_back(key);
        } else if (key == Key::redraw) {
            columns_ = 0;
        } else {
            scroll_.handle(key, order_, in_view_);
        }
    }
    return others;
}

/// Paints the whole line or a word in ASCII, so that no UTF-8 character is cut.
std::string LiveView::painted(const ViewLine& line) const {
    if (!colour_) return line.whole_text();
    const std::string_view all = line.text;
    const std::size_t from = std::min(line.from, all.size());
    const std::size_t size = std::min(line.painted, all.size() - from);
    std::string out = line.selected ? "\x1b[7m" : "";
    out += all.substr(0, from);
    const std::string_view code = size > 0 ? code_of(line.paint) : "";
    out += code;
    out += all.substr(from, size);
    if (!code.empty()) out += line.selected ? "\x1b[0;7m" : "\x1b[0m";
    out += all.substr(from + size);
    if (line.selected) out += "\x1b[0m";
    for (const ViewLine& block : line.beside) out += painted(block);
    return out;
}

void LiveView::draw(ViewState state) {
    draw([&](int columns, int rows) {
        state.keys = keys_ >= 0;
        state.utf8 = utf8_wanted();
        state.scroll = scroll_;
        order_ = shown_order(state);
        in_view_ = streams_in_view(state, columns, rows);
        return live_lines(state, columns, rows);
    });
}

void LiveView::draw(const std::function<std::vector<ViewLine>(int columns, int rows)>& lines_for) {
    bool empty = false;
    if (!screen_.keep(empty)) return;
    const auto [columns, rows] = terminal_size(fd_);
    std::string out = kBegin;
    if (empty || columns != columns_ || rows != rows_) {
        out += "\x1b[2J";
        drawn_.clear();
        columns_ = columns;
        rows_ = rows;
    }
    std::vector<std::string> lines;
    for (ViewLine& line : lines_for(columns, rows)) {
        if (lines.size() == static_cast<std::size_t>(std::max(rows, 0))) break;
        if (line.beside.empty()) line.text = clip(line.text, columns);
        lines.push_back(painted(line));
    }
    if (drawn_.size() > lines.size()) out += fmt::format("\x1b[{};1H\x1b[J", lines.size() + 1);
    bool changed = empty || drawn_.size() > lines.size();
    drawn_.resize(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i] == drawn_[i]) continue;
        out += fmt::format("\x1b[{};1H\x1b[K{}", i + 1, lines[i]);
        changed = true;
    }
    drawn_ = std::move(lines);
    if (changed) write_all(fd_, out + kEnd);
}

}  // namespace streamsim::view
