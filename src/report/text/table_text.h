// A table of a report as text. Inside report/ only.
#pragma once

#include <string>
#include <string_view>

#include "report/tables/table.h"

namespace streamsim::report {

/// The number of characters that a terminal shows, apart from wide ones.
std::size_t shown_width(std::string_view text);

/// Heading and rows, each line indented by two and ended by a newline; columns as wide as their widest field.
/// `columns_max`: names are cut at their front until the lines are no wider; 0: nothing is cut.
std::string table_lines(const Table& table, Column::Form form, std::size_t columns_max = 0);

/// Title, rows and note; empty without rows.
std::string table_text(const Table& table);

}  // namespace streamsim::report
