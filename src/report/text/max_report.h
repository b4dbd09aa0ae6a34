// The result of a search for the largest number of streams, as a table that people read.
#pragma once

#include <string>

#include "streamsim/max_result.h"

namespace streamsim::report {

/// A line for each format, then what was seen on the way that a reader should know.
std::string max_text_report(const MaxResult& result);

}  // namespace streamsim::report
