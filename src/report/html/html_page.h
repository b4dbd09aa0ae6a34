// The page around every report: head, style and scripts. The style and the script of charts are in
// src/report/page/; the build embeds them, and Chart.js. Inside report/ only.
#pragma once

#include <string>
#include <string_view>

#include "report/html/html_report.h"

namespace streamsim::report::html {

std::string_view page_style();
std::string_view page_script();
/// Chart.js with its licence's notice.
std::string_view chart_library();

/// The whole document; the scripts only where the page has charts.
std::string document(const Page& page);

}  // namespace streamsim::report::html
