// How much a report on a terminal says.
#pragma once

namespace streamsim::report {

enum class TextDetail {
    screen,  // at most 24 lines of 80 columns
    full,    // every line and table
};

}  // namespace streamsim::report
