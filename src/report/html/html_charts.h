// What the HTML report draws: the numbers that its script makes charts of, and each stream's time line, which
// is drawn here and needs no script. Inside report/ only.
#pragma once

#include <string>

#include "streamsim/run_result.h"

namespace streamsim::report::html {

/// JSON that is safe in a script element, as src/report/page/report.js reads it: times in s, margins in ms,
/// rates in MB/s; a chart without numbers is null.
std::string chart_data(const RunResult& result);

/// Places for the charts, with what they show in words; a sentence where nothing was recorded.
std::string throughput_figure(const RunResult& result);
std::string margin_figure(const RunResult& result);
std::string distribution_figure(const RunResult& result);

/// A strip a stream on one axis of time: frames buffered below, frames missed as ticks above.
std::string stream_strips(const RunResult& result);

}  // namespace streamsim::report::html
