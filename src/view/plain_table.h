// A table of texts as lines of the live view. Pure.
#pragma once

#include <string>
#include <vector>

#include "view/live_lines.h"

namespace streamsim::view {

struct PlainRow {
    std::vector<std::string> cells;
    Paint paint = Paint::plain;
};

/// The headings and `rows`, each column as wide as its widest cell; the last one takes what is left of
/// `columns`. Rows beyond `lines_max` lines are counted in the last one.
std::vector<ViewLine> table_lines(const std::vector<std::string>& headings,
                                  const std::vector<PlainRow>& rows,
                                  int columns,
                                  std::size_t lines_max);

}  // namespace streamsim::view
