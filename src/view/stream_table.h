// The streams of the live view as a table. Inside view/ only.
#pragma once

#include <vector>

#include "view/live_lines.h"

namespace streamsim::view {

/// The rows of the streams that are in view, with as many columns as fit, the most important ones first.
std::vector<ViewLine> stream_lines(const ViewState& state,
                                   const std::vector<std::size_t>& shown,
                                   int columns,
                                   bool heading);

Paint state_paint(const StreamView& stream);

}  // namespace streamsim::view
