// The result of a search for the largest number of streams as the document "streamsim.max", version 1
// (formats/schema/max.json), with every step.
#pragma once

#include <string>

#include "streamsim/max_result.h"

namespace streamsim::report {

/// The beginning of every such document, by which a later run recognises it.
inline constexpr const char* kMaxReportBegins = "{\n  \"schema\": \"streamsim.max\"";

std::string max_json_report(const MaxResult& result);

}  // namespace streamsim::report
