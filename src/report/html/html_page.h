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

/// Follows a run by the events of its server.
std::string_view live_script();

/// The parts that only a page over HTTP has. Each element has the attribute data-live.
struct LiveParts {
    std::string state = {};  // an element before <main>; empty: none
    bool follows = false;    // with the script that follows a run
};

/// The whole document; the scripts of charts only where the page has charts.
std::string document(const Page& page, const LiveParts& live = {});

}  // namespace streamsim::report::html
