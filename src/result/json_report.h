// The result as a document: schema "streamsim.result", version 1 (formats/schema/result.json).
#pragma once

#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::result {

/// How every such file begins.
inline constexpr std::string_view kJsonReportBegins = "{\n  \"schema\": \"streamsim.result\"";

/// UTF-8, ends with a newline. Keys keep their order; streams, drops and time-line entries take a line each.
/// Counts, bytes and nanoseconds are integers; what never happened or is not known is null. A name that is not
/// UTF-8 is shown with U+FFFD in the place of the wrong bytes.
std::string json_report(const RunResult& result);

}  // namespace streamsim::result
