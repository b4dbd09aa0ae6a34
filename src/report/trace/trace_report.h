// The run as a trace for Perfetto's and Chrome's trace viewer (the JSON trace event format): a process for
// each seat, a track for each stream, a slice for each frame from the submission of its read to its completion,
// a mark for each missed frame.
#pragma once

#include <string_view>

#include "base/document/text_sink.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kTraceBegins = "{\"otherData\":{\"schema\":\"streamsim.trace\"";

/// `result.frames`, in pieces of about 64 KiB. A row that was read gives one slice (category "frame"), whose
/// arguments are the row's columns under the same names, without those that are empty there. A row that was
/// missed, or never read, gives a mark (category "miss") at its deadline. A viewer takes slices that overlap on
/// one track for damage: reads that overlap are put on further tracks of the stream. `ts` and `dur` are
/// microseconds with three decimals; `ts` begins at 0:
///   ts * 1000 = otherData.offset_ns + play_start_ns of the stream + the row's time.
/// Counters: bytes a second, read (moved, where streams record too) and required, over the whole run; each
/// stream's buffer.
void trace_report(const RunResult& result, const TextSink& sink);

}  // namespace streamsim::report
