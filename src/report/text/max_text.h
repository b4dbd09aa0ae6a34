// The result of a search for the largest number of streams as text. It ends with the numbers found.
#pragma once

#include <string>

#include "report/text/text_detail.h"
#include "streamsim/max_result.h"

namespace streamsim::report {

/// A row for each format, then why one more does not play and how sure the number is.
std::string max_text_report(const MaxResult& result, TextDetail detail);

}  // namespace streamsim::report
