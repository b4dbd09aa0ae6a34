// The tables of a workload's report. Inside report/ only.
#pragma once

#include <string>

#include "streamsim/load_result.h"

namespace streamsim::report {

std::string steps_table(const LoadResult& result);
/// What the times and latencies of the tables of this report are, a sentence a line.
std::string latency_definitions(const LoadResult& result);
/// Whether cold steps were cold, a sentence a line; empty without any.
std::string cache_sentences(const LoadResult& result);
/// Five tables a step, and five more for each client where there are two to `clients_shown` of them.
std::string modes_tables(const LoadResult& result, std::size_t clients_shown);
/// Empty where there is one client.
std::string clients_table(const LoadStep& step);
/// Empty where nothing was printed.
std::string printed_table(const LoadResult& result);

}  // namespace streamsim::report
