// What every HTML report carries with it, from src/report/page/ and from Chart.js: made into a source file when
// streamsim is built. Inside report/ only.
#pragma once

#include <string_view>

namespace streamsim::report::html {

std::string_view page_style();
std::string_view page_script();
/// Chart.js with its licence's notice.
std::string_view chart_library();

}  // namespace streamsim::report::html
