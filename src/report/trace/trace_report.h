// The run as a trace for Perfetto's and Chrome's trace viewer (the JSON trace event format): a process a seat,
// a track a stream, a slice a frame from the submission of its read to its completion, a mark a missed frame.
#pragma once

#include <string_view>

#include "report/csv/csv_report.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

/// How every such file begins.
inline constexpr std::string_view kTraceBegins = "{\"otherData\":{\"schema\":\"streamsim.trace\"";

/// `result.frames`, in pieces of about 64 KiB. A row that was read gives one slice (category "frame"), whose
/// arguments are the row's columns under the same names, without those that are empty there. A row that was
/// missed, or never read, gives a mark (category "miss") at its deadline. A viewer takes slices that overlap on
/// one track for damage: what was in flight at once lies on tracks of its own, the stream's first and as many
/// more as it takes. `ts` and `dur` are microseconds with three decimals; `ts` begins at 0:
///   ts * 1000 = otherData.offset_ns + play_start_ns of the stream + the row's time.
/// Counters: bytes a second, read and required, over the whole run; each stream's buffer.
void trace_report(const RunResult& result, const TextSink& sink);

}  // namespace streamsim::report
