// The charts of a run, on one axis of time, and the time lines of its streams, which need no script. Inside
// report/ only.
#pragma once

#include <string>

#include "report/html/charts.h"
#include "streamsim/run_result.h"

namespace streamsim::report::html {

/// Prepares the axis of time and the events for the figures below.
void begin_time_charts(const RunResult& result, Charts& charts);

// Figures: a chart with its content in words. A sentence, or nothing, if nothing was recorded.

/// The read rate against the required rate.
std::string throughput_figure(const RunResult& result, Charts& charts);
/// Min margin, missed frames, buffered frames.
std::string margin_figures(const RunResult& result, Charts& charts);
/// Frames by margin and by service time.
std::string margin_distribution_figure(const RunResult& result, Charts& charts);
std::string latency_figures(const RunResult& result, Charts& charts);
/// Processors and network of this computer.
std::string computer_figures(const RunResult& result, Charts& charts);
/// The busiest parts of a model.
std::string parts_figure(const RunResult& result, Charts& charts);

/// A strip for each of the worst streams on one axis of time: buffered frames below, missed frames as ticks
/// above. More streams follow as a heat map.
std::string stream_strips(const RunResult& result);

}  // namespace streamsim::report::html
