// The style and scripts in every HTML report: src/report/page/ and Chart.js, embedded by the build. Inside
// report/ only.
#pragma once

#include <string_view>

namespace streamsim::report::html {

std::string_view page_style();
std::string_view page_script();
/// Chart.js with its licence's notice.
std::string_view chart_library();

}  // namespace streamsim::report::html
