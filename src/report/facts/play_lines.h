// The lines of a report about play: its frames, its times, and the causes of missed frames. Inside report/
// only.
#pragma once

#include "report/facts/report_line.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

/// Cause, limit, detail, the next measurement, and how the missed frames are attributed.
void add_cause_lines(const RunResult& result, ReportLines& out);
/// How many frames were on time, dropped, late or failed, and stalls.
void add_frames_lines(const RunResult& result, ReportLines& out);
/// Throughput, start, margins and latencies.
void add_delivery_lines(const RunResult& result, ReportLines& out);

/// "120.0 MB/s from 0 s, 240.0 MB/s from 60.0 s to 120.0 s", cut after some steps; empty when the required rate
/// does not change.
std::string required_text(const RunResult& result);

}  // namespace streamsim::report
