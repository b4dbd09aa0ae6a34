#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "report/text/screen.h"

namespace streamsim::report {
namespace {

/// Names are cut to the first width; where that is not enough, to the second one.
constexpr std::size_t kCutFieldMin = 8;
constexpr std::size_t kCutFieldLeast = 4;

bool shown(const Table& table, std::size_t index, Column::Form form) {
    const Column& column = table.columns[index];
    if (column.form > form) return false;
    return column.keep == Column::Keep::always || table.has_values(index);
}

/// The end of a text of which too much has to go: names of files differ at their end.
std::string cut_front(const std::string& text, std::size_t width) {
    const std::size_t has = shown_width(text);
    if (has <= width) return text;
    return ".." + text.substr(bytes_of_first(text, has - width + 2));
}

/// The fields of a line; columns.size() of them.
using Fields = std::vector<std::string>;

std::string line_of(const Fields& fields,
                    const std::vector<Column::Align>& aligns,
                    const std::vector<std::size_t>& widths) {
    std::string out;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::string padding(widths[i] - shown_width(fields[i]), ' ');
        out += "  ";
        out += aligns[i] == Column::Align::right ? padding + fields[i] : fields[i] + padding;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
}

std::size_t width_of(const std::vector<std::size_t>& widths) {
    std::size_t used = 2 * widths.size();
    for (const std::size_t width : widths) used += width;
    return used;
}

/// Cuts the widest left-aligned columns, which are names, until no line is wider than `columns_max`, or they
/// are all cut to `field_min`.
void cut_names(std::vector<Fields>& lines,
               const std::vector<Column::Align>& aligns,
               std::vector<std::size_t>& widths,
               std::size_t columns_max,
               std::size_t field_min) {
    for (std::size_t used = width_of(widths); used > columns_max; used = width_of(widths)) {
        std::size_t widest = widths.size();
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (aligns[i] != Column::Align::left || widths[i] <= field_min) continue;
            if (widest == widths.size() || widths[i] >= widths[widest]) widest = i;
        }
        if (widest == widths.size()) return;
        widths[widest] -= std::min(used - columns_max, widths[widest] - field_min);
        for (Fields& line : lines) line[widest] = cut_front(line[widest], widths[widest]);
    }
}

/// Makes no line wider than `columns_max`: cuts names, then leaves out the last columns of numbers.
void fit(std::vector<Fields>& lines,
         std::vector<Column::Align>& aligns,
         std::vector<std::size_t>& widths,
         std::size_t columns_max) {
    cut_names(lines, aligns, widths, columns_max, kCutFieldMin);
    cut_names(lines, aligns, widths, columns_max, kCutFieldLeast);
    for (std::size_t i = widths.size(); i-- > 1 && width_of(widths) > columns_max;) {
        if (aligns[i] != Column::Align::right) continue;
        const auto at = static_cast<std::ptrdiff_t>(i);
        for (Fields& line : lines) line.erase(line.begin() + at);
        aligns.erase(aligns.begin() + at);
        widths.erase(widths.begin() + at);
    }
}

}  // namespace

std::string table_lines(const Table& table, Column::Form form, std::size_t columns_max) {
    std::vector<Fields> lines(table.rows.size() + 1);
    std::vector<Column::Align> aligns;
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (!shown(table, i, form)) continue;
        lines[0].push_back(table.columns[i].heading);
        for (std::size_t row = 0; row < table.rows.size(); ++row)
            lines[row + 1].push_back(printable(table.rows[row][i].text));
        std::size_t widest = 0;
        for (const Fields& line : lines) widest = std::max(widest, shown_width(line.back()));
        aligns.push_back(table.columns[i].align);
        widths.push_back(widest);
    }
    if (columns_max > 0 && !widths.empty()) fit(lines, aligns, widths, columns_max);
    std::string out;
    for (const Fields& line : lines) out += line_of(line, aligns, widths);
    return out;
}

std::string table_text(const Table& table) {
    if (table.empty()) return {};
    std::string out = table.title.empty() ? "" : table.title + "\n";
    out += table_lines(table, Column::Form::full);
    return table.note.empty() ? out : out + "  " + table.note + "\n";
}

}  // namespace streamsim::report
