#include <fmt/format.h>

#include <vector>

#include "report/html/html_text.h"

namespace streamsim::report::html {
namespace {

constexpr std::size_t kUnbrokenRowsMax = 30;  // on paper a longer table may break between pages
constexpr const char* kNoValueShown = "\u2013";

std::string cell_html(const Cell& cell) {
    if (!cell.key.empty()) return data(cell.key, cell.value, escaped(cell.text));
    if (cell.text == kNoValue) return kNoValueShown;
    return cell.outside_name ? name(cell.text) : escaped(cell.text);
}

std::vector<bool> shown_columns(const Table& table) {
    std::vector<bool> out;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        out.push_back(table.columns[i].keep != Column::Keep::where_not_zero || table.has_values(i));
    return out;
}

std::string class_of(const Column& column, const char* more = "") {
    const bool right = column.align == Column::Align::right;
    if (!right && *more == 0) return {};
    return fmt::format(" class=\"{}{}{}\"", right ? "n" : "", right && *more != 0 ? " " : "", more);
}

std::string row_html(const Table& table, const std::vector<Cell>& cells, const std::vector<bool>& shown) {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!shown[i]) continue;
        const std::string css_class = class_of(table.columns[i], cells[i].css_class);
        out += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", css_class, cell_html(cells[i]))
                      : fmt::format("<td{}>{}</td>", css_class, cell_html(cells[i]));
    }
    return out + "</tr>\n";
}

}  // namespace

std::string table_html(const Table& table) {
    if (table.empty()) return {};
    const std::vector<bool> shown = shown_columns(table);
    std::string head;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (!shown[i]) continue;
        head += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(table.columns[i]),
                            escaped(table.columns[i].heading));
    }
    std::string out = fmt::format(
        "<div class=\"scroll{3}\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table class=\"{1}\">\n"
        "<caption><span>{0}</span></caption>\n<thead><tr>{2}</tr></thead>\n<tbody>\n",
        escaped(table.title), table.css_class, head, table.rows.size() <= kUnbrokenRowsMax ? " short" : "");
    for (const auto& row : table.rows) out += row_html(table, row, shown);
    out += "</tbody>\n";
    if (!table.sum.empty()) out += "<tfoot>\n" + row_html(table, table.sum, shown) + "</tfoot>\n";
    out += "</table>\n</div>\n";
    return table.note.empty() ? out : out + paragraph(escaped(table.note), "more");
}

}  // namespace streamsim::report::html
