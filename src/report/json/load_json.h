// The result of a workload as the document "streamsim.load", version 1 (formats/schema/load.json), with the
// whole result of every step.
#pragma once

#include <string>

#include "streamsim/load_result.h"

namespace streamsim::report {

/// The beginning of every such document, by which a later run recognises it.
inline constexpr const char* kLoadReportBegins = "{\n  \"schema\": \"streamsim.load\"";

std::string load_json_report(const LoadResult& result);

}  // namespace streamsim::report
