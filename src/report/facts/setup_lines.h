// The lines of a report about the set-up of a run: options, caches, mounts, this computer. Inside report/ only.
#pragma once

#include "report/facts/report_line.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

/// The limits of the result, for a reader of two lines: no statement about storage, or no measurement.
void add_disclaimer_lines(const RunResult& result, ReportLines& out);
/// The expectation of a scenario, and whether it was met.
void add_scenario_lines(const RunResult& result, ReportLines& out);
/// Backend, read sizes, read-ahead, policies.
void add_options_lines(const RunResult& result, ReportLines& out);
/// Mount, servers and links of the media.
void add_storage_lines(const RunResult& result, ReportLines& out);
/// Which caches may have answered, and what was not played.
void add_cache_lines(const RunResult& result, ReportLines& out);
void add_computer_lines(const RunResult& result, ReportLines& out);

/// Scenario, options, caches and computer together.
ReportLines setup_lines(const RunResult& result);

}  // namespace streamsim::report
