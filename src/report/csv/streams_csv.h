// One row for each stream, for spreadsheets: the CSV of a result that was read back, which has no frames.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kStreamsCsvBegins = "seat,stream,format,";

/// RFC 4180, as csv_report; the columns are named as in the result's document. A field is empty if the document
/// has null.
std::string streams_csv(const RunResult& result);

}  // namespace streamsim::report
