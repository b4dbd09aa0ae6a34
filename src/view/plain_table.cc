#include "view/plain_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "view/terminal.h"

namespace streamsim::view {
namespace {

/// Wider cells are cut, so that every column has its place.
constexpr std::size_t kCellColumnsMax = 32;

std::string line_of(const std::vector<std::string>& cells,
                    const std::vector<std::size_t>& widths,
                    int columns) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = printable(cells[i]);
        const bool last = i + 1 == cells.size();
        line += last ? cell : fmt::format("{:<{}}  ", clip(cell, static_cast<int>(widths[i])), widths[i]);
    }
    return clip(line, columns);
}

}  // namespace

std::vector<ViewLine> table_lines(const std::vector<std::string>& headings,
                                  const std::vector<PlainRow>& rows,
                                  int columns,
                                  std::size_t lines_max) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < headings.size(); ++i) {
        widths.push_back(headings[i].size());
        for (const PlainRow& row : rows) widths[i] = std::max(widths[i], row.cells[i].size());
        widths[i] = std::min(widths[i], kCellColumnsMax);
    }
    std::vector<ViewLine> lines = {{line_of(headings, widths, columns), Paint::faint}};
    const bool all = rows.size() < lines_max;
    const std::size_t shown = all ? rows.size() : std::max<std::size_t>(lines_max, 2) - 2;
    for (std::size_t i = 0; i < shown; ++i)
        lines.push_back({line_of(rows[i].cells, widths, columns), rows[i].paint});
    if (!all) lines.push_back({clip(fmt::format("and {} more", rows.size() - shown), columns), Paint::faint});
    return lines;
}

}  // namespace streamsim::view
