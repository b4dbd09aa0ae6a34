// A table of a report as HTML. Inside report/ only.
#pragma once

#include <string>

#include "report/tables/table.h"

namespace streamsim::report::html {

/// The table with its title as caption, in a region of its own that scrolls where the page is too narrow, and
/// its note as a paragraph; empty without rows. The first column names its row.
std::string table_html(const Table& table);

}  // namespace streamsim::report::html
