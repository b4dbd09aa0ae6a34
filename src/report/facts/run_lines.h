// The lines of a run's report: a heading and what it says. Inside report/ only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

struct ReportLine {
    std::string heading;  // empty: the line continues the one above
    std::string text;
};

class ReportLines : public std::vector<ReportLine> {
public:
    void add(std::string_view heading, std::string text) { push_back({std::string(heading), std::move(text)}); }
};

/// Cause, limit, detail, the next measurement, and how the missed frames are attributed.
void add_cause_lines(const RunResult& result, ReportLines& out);
/// How many frames were on time, dropped, late or failed, and stalls.
void add_frames_lines(const RunResult& result, ReportLines& out);
/// The rate of drop events with its confidence, and what --prove has decided.
void add_claim_lines(const RunResult& result, ReportLines& out);
/// Throughput, start, margins and latencies.
void add_delivery_lines(const RunResult& result, ReportLines& out);
/// The limits of the result, for a reader of two lines: no statement about storage, or no measurement.
void add_disclaimer_lines(const RunResult& result, ReportLines& out);
/// How far to trust the model; nothing of storage.
void add_trust_lines(const RunResult& result, ReportLines& out);
/// The answer of a calibrated model over draws of its numbers.
void add_prediction_lines(const RunResult& result, ReportLines& out);
/// The expectation of a scenario, and whether it was met.
void add_scenario_lines(const RunResult& result, ReportLines& out);
/// Backend, read sizes, read-ahead, policies.
void add_options_lines(const RunResult& result, ReportLines& out);
/// Mount, servers and links of the media.
void add_storage_lines(const RunResult& result, ReportLines& out);
/// The command that was run before play, and the counters of the server over it.
void add_step_lines(const RunResult& result, ReportLines& out);
/// It is known how many bytes came from this computer's page cache.
bool own_memory_is_known(const RunResult& result);
/// Which caches may have answered, and what was not played.
void add_cache_lines(const RunResult& result, ReportLines& out);
void add_computer_lines(const RunResult& result, ReportLines& out);

/// Scenario, options, caches and computer together.
ReportLines setup_lines(const RunResult& result);

/// Rows of operations of all meters that --csv lacks.
std::uint64_t omitted_rows(const RunResult& result);
/// The same in a sentence; empty: none.
std::string omitted_rows_text(std::uint64_t rows);

/// "120.0 MB/s from 0 s, 240.0 MB/s from 60.0 s to 120.0 s", cut after some steps; empty when the required rate
/// does not change.
std::string required_text(const RunResult& result);

}  // namespace streamsim::report
