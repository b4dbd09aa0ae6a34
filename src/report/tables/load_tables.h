// The tables of a workload's report, and those of the meters of a run; empty ones have no rows.
#pragma once

#include <string>
#include <vector>

#include "report/tables/table.h"
#include "streamsim/load_result.h"

namespace streamsim::report {

/// A value of the sweep as text: "16", "cold"; empty without a sweep.
std::string show_step(const Workload& workload, double at);
/// The word for what the sweep changes: "clients"; empty for one step.
std::string sweep_word(Sweep::Over over);

bool all_passed(const LoadResult& result);
/// "INTERRUPTED", "DONE" or "DONE, WITH FAILURES".
std::string load_word(const LoadResult& result);
/// The reasons of the steps that failed, each after the value of its step.
std::vector<std::string> failures(const LoadResult& result);

/// The changes that --scale made, a sentence each.
std::vector<std::string> scale_sentences(const LoadResult& result);

Table steps_table(const LoadResult& result);
/// The definitions of the times in the tables of this report, a sentence each.
std::vector<std::string> latency_definitions(const LoadResult& result);
/// For each cold step whether a cache may have answered, and what the counters of the server prove, a sentence
/// each.
std::vector<std::string> cache_sentences(const LoadResult& result);
/// The rows of operations that --csv lacks, in a sentence; empty: none.
std::string omitted_rows_sentence(const LoadResult& result);
/// The differences of the counters of the server, a row for each step that has some.
Table counters_table(const LoadResult& result);
/// Five tables for each step, and five for each client if there are two to `clients_max` of them.
std::vector<Table> modes_tables(const LoadResult& result, std::size_t clients_max);
/// Empty for one client.
Table clients_table(const LoadStep& step);
/// The computers of a step and what the clients of each did; empty for one computer.
Table computers_table(const LoadStep& step);
/// The figures that the source of the workload printed, beside the measured ones.
Table printed_table(const LoadResult& result);
/// Names the models of the printed figures that were not compared; empty: all were.
std::string not_compared(const LoadResult& result);

/// The buffers of the meters of all steps, a row for each meter on each client; empty where no meter has one.
Table buffers_table(const LoadResult& result);
/// The buffer that was needed most, in a sentence; empty where no meter has one.
std::string buffer_sentence(const LoadResult& result);

/// The meters of a run.
Table meters_table(const RunResult& result);
/// Streams and meters of a run alone, and together; empty if they were not measured alone.
Table alone_table(const RunResult& result);

}  // namespace streamsim::report
