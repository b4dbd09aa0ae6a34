// Results as one HTML file each that needs no other file and no network.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/load_result.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kHtmlReportBegins = "<!DOCTYPE html>\n<!-- streamsim report -->";

std::string html_report(const RunResult& result);
std::string load_html_report(const LoadResult& result);

}  // namespace streamsim::report
