// The tables of the HTML report, each as HTML; empty where there is nothing to show. Inside report/ only.
#pragma once

#include <cstddef>
#include <string>

#include "streamsim/run_result.h"

namespace streamsim::report::html {

/// The streams of each format together, and all of them: the totals of the document.
std::string formats_table(const RunResult& result);
/// A row a computer, of a run over several.
std::string seats_table(const RunResult& result);
/// A row a stream.
std::string streams_table(const RunResult& result);
/// Service, response, open and seek over all streams, margins too.
std::string latency_table(const RunResult& result);
/// The frames that were not there in time, the earliest first; says how many more there are.
std::string drops_table(const RunResult& result);
/// The frames of clips that were missed most often, of the drops that the document has.
std::string places_table(const RunResult& result);
std::string causes_table(const RunResult& result);
std::string servers_table(const RunResult& result);
std::string links_table(const RunResult& result);
std::string probes_table(const RunResult& result);
std::string parts_table(const RunResult& result);
/// What the charts over time show, in at most some dozen intervals.
std::string time_table(const RunResult& result);
std::string margins_table(const RunResult& result);

}  // namespace streamsim::report::html
