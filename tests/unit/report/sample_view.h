// The live view of runs of 1 to 500 streams at a moment that never changes: for golden screens.
#pragma once

#include "view/live_lines.h"

namespace streamsim::samples {

/// Half of a run of two minutes with two events, one of them now; the second stream is tight.
view::ViewState live_view(std::size_t streams);

}  // namespace streamsim::samples
