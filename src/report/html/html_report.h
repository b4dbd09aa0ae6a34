// The result of a run as one HTML file that needs no other file and no network.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kHtmlReportBegins = "<!DOCTYPE html>\n<!-- streamsim report -->";

std::string html_report(const RunResult& result);

}  // namespace streamsim::report
