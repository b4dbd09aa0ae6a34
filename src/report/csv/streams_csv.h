// One row a stream, for spreadsheets: what can be had from a result that is read back (its frames are not in
// it).
#pragma once

#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// How every such file begins.
inline constexpr std::string_view kStreamsCsvBegins = "seat,stream,format,";

/// RFC 4180, as csv_report; the columns are named as in the result's document. A field is empty where that has
/// null.
std::string streams_csv(const RunResult& result);

}  // namespace streamsim::report
