// The streams of the live view as a table. Inside view/ only.
#pragma once

#include <vector>

#include "view/live_lines.h"

namespace streamsim::view {

/// The columns of characters that a block of streams needs at least; a wide terminal has several blocks side by
/// side.
inline constexpr std::size_t kBlockColumnsMin = 46;
inline constexpr std::size_t kBlockGap = 2;

/// How a table of streams lies on the terminal.
struct TableShape {
    int columns = 80;
    std::size_t blocks = 1;  // side by side
    std::size_t rows = 0;    // streams of a block
    bool heading = false;
    bool groups = false;  // a line above the heading: which columns are of now, which since the beginning
};

/// The rows of the streams that are in view, one block after the other, with as many columns as fit, the most
/// important ones first.
std::vector<ViewLine> stream_lines(const ViewState& state,
                                   const std::vector<std::size_t>& shown,
                                   const TableShape& shape);

/// It has missed a frame in the last two seconds, or has one that is overdue, or waits for one.
bool misses_now(const StreamView& stream, std::int64_t elapsed_ns);
/// Its least margin of late is below a quarter of a frame period, as the report calls it tight.
bool tight_now(const StreamView& stream);

}  // namespace streamsim::view
