// The run as a trace for Perfetto's and Chrome's trace viewer (the JSON trace event format): a track a stream,
// a slice a frame, a mark a missed frame.
#pragma once

#include <string_view>

#include "report/csv_report.h"
#include "streamsim/run_result.h"

namespace streamsim {

/// How every such file begins.
inline constexpr std::string_view kTraceBegins = "{\"otherData\":{\"schema\":\"streamsim.trace\"";

/// `result.frames`, in pieces.
void trace_report(const RunResult& result, const TextSink& sink);

}  // namespace streamsim
