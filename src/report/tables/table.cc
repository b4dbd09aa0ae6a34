#include "report/tables/table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace streamsim::report {

Cell count_cell(std::uint64_t count) {
    return show_count(count);
}

Cell count_cell(std::string key, std::uint64_t count) {
    Cell out = show_count(count);
    out.key = std::move(key);
    out.value = std::to_string(count);
    return out;
}

Cell time_cell(std::int64_t ns) {
    return show_duration({ns});
}

Cell time_cell(std::string key, std::int64_t ns) {
    Cell out = show_duration({ns});
    out.key = std::move(key);
    out.value = std::to_string(ns);
    return out;
}

Cell time_cell(const std::optional<std::int64_t>& ns) {
    return ns ? time_cell(*ns) : Cell(kNoValue);
}

Cell rate_cell(double bytes_per_s) {
    return bytes_per_s > 0 && std::isfinite(bytes_per_s) ? show_rate(bytes_per_s) : kNoValue;
}

Cell rate_cell(std::string key, double bytes_per_s) {
    Cell out = show_rate(bytes_per_s);
    if (!std::isfinite(bytes_per_s)) return out;  // the document has null
    out.key = std::move(key);
    out.value = std::to_string(std::llround(bytes_per_s));
    return out;
}

Cell name_cell(std::string name) {
    Cell out = std::move(name);
    out.outside_name = true;
    return out;
}

void Table::left(std::string heading, Column::Keep keep, Column::Form form) {
    columns.push_back({std::move(heading), Column::Align::left, keep, form});
}

void Table::right(std::string heading, Column::Keep keep, Column::Form form) {
    columns.push_back({std::move(heading), Column::Align::right, keep, form});
}

void Table::row(std::vector<Cell> fields) {
    STREAMSIM_CHECK(fields.size() == columns.size(), "a table row has a field for each column");
    rows.push_back(std::move(fields));
}

bool Table::has_values(std::size_t column) const {
    return std::any_of(rows.begin(), rows.end(), [column](const std::vector<Cell>& row) {
        const std::string& text = row[column].text;
        return !text.empty() && text != "0" && text != kNoValue;
    });
}

}  // namespace streamsim::report
