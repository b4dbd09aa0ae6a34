// What a search for the largest number of streams has found: as a table that people read, and as the document
// "streamsim.max", version 1 (formats/schema/max.json), with every step.
#pragma once

#include <string>

#include "streamsim/max_result.h"

namespace streamsim::report {

/// How the document begins, to know an earlier one.
inline constexpr const char* kMaxReportBegins = "{\n  \"schema\": \"streamsim.max\"";

std::string max_json_report(const MaxResult& result);

/// A line for each format, then what was seen on the way that a reader should know.
std::string max_text_report(const MaxResult& result);

}  // namespace streamsim::report
