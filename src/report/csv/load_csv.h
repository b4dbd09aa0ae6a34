// The operations of a workload's meters, one row each, for spreadsheets.
#pragma once

#include <string>

#include "streamsim/load_result.h"

namespace streamsim::report {

/// The beginning of every such file, by which a later run recognises it.
inline constexpr const char* kLoadCsvBegins = "step,seat,meter,user,transfer,operation,";

/// A row for each block, or other operation, that was kept: times in nanoseconds from the start of the step's
/// play.
std::string load_csv_report(const LoadResult& result);

}  // namespace streamsim::report
