// The figures of the HTML report: the numbers that its script draws charts from, and the time lines of streams,
// which need no script. Inside report/ only.
#pragma once

#include <string>

#include "streamsim/run_result.h"

namespace streamsim::report::html {

/// JSON that is safe in a script element, as src/report/page/report.js reads it: times in s, margins in ms,
/// rates in MB/s; a chart without numbers is null.
std::string chart_data(const RunResult& result);

/// A canvas for a chart, with its content in words; a sentence if nothing was recorded.
std::string throughput_figure(const RunResult& result);
std::string margin_figure(const RunResult& result);
std::string distribution_figure(const RunResult& result);

/// A strip for each stream on one axis of time: buffered frames below, missed frames as ticks above.
std::string stream_strips(const RunResult& result);

}  // namespace streamsim::report::html
