#include "report/tables/table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace streamsim::report {

namespace {

Cell keyed(std::string shown, std::string key, std::string value) {
    Cell out = std::move(shown);
    out.key = std::move(key);
    out.value = std::move(value);
    return out;
}

}  // namespace

Cell count_cell(std::uint64_t count) {
    return show_count(count);
}

Cell count_cell(std::string key, std::uint64_t count) {
    return keyed(show_count(count), std::move(key), std::to_string(count));
}

Cell time_cell(const std::optional<std::int64_t>& ns) {
    return ns ? show_duration({*ns}) : kNoValue;
}

Cell time_cell(std::string key, const std::optional<std::int64_t>& ns) {
    return ns ? keyed(show_duration({*ns}), std::move(key), std::to_string(*ns)) : Cell(kNoValue);
}

Cell rate_cell(double bytes_per_s) {
    return bytes_per_s > 0 && std::isfinite(bytes_per_s) ? show_rate(bytes_per_s) : kNoValue;
}

Cell rate_cell(std::string key, double bytes_per_s) {
    if (!std::isfinite(bytes_per_s)) return show_rate(bytes_per_s);  // the document has null
    return keyed(show_rate(bytes_per_s), std::move(key), std::to_string(std::llround(bytes_per_s)));
}

Cell name_cell(std::string name) {
    Cell out = std::move(name);
    out.outside_name = true;
    return out;
}

void Table::left(std::initializer_list<std::string> headings, Column::Keep keep, Column::Form form) {
    for (const std::string& heading : headings) columns.push_back({heading, Column::Align::left, keep, form});
}

void Table::right(std::initializer_list<std::string> headings, Column::Keep keep, Column::Form form) {
    for (const std::string& heading : headings) columns.push_back({heading, Column::Align::right, keep, form});
}

void Table::row(std::vector<Cell> fields) {
    STREAMSIM_CHECK(fields.size() == columns.size(), "a table row has a field for each column");
    rows.push_back(std::move(fields));
}

bool Table::has_values(std::size_t column) const {
    return std::ranges::any_of(rows, [column](const std::vector<Cell>& row) {
        const std::string& text = row[column].text;
        return !text.empty() && text != "0" && text != kNoValue;
    });
}

}  // namespace streamsim::report
