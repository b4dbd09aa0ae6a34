// The report for someone who was not there: one HTML file that needs nothing else, no network either.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// How every such file begins.
inline constexpr std::string_view kHtmlReportBegins = "<!DOCTYPE html>\n<!-- streamsim report -->";

std::string html_report(const RunResult& result);

}  // namespace streamsim::report
