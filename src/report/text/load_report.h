// What a workload has come to: for people, and as the document "streamsim.load", version 1
// (formats/schema/load.json), with the whole result of every step.
#pragma once

#include <string>

#include "streamsim/load_result.h"

namespace streamsim::report {

/// How the documents begin, to know earlier ones.
inline constexpr const char* kLoadReportBegins = "{\n  \"schema\": \"streamsim.load\"";
inline constexpr const char* kLoadCsvBegins = "step,seat,meter,user,transfer,operation,";

std::string load_json_report(const LoadResult& result);

/// What it is, a row a step, the tables or the curve of its report, and what was printed beside what was
/// measured.
std::string load_text_report(const LoadResult& result);

/// A row a block, or other operation, of which one was kept: times in nanoseconds from the start of the step's
/// play.
std::string load_csv_report(const LoadResult& result);

/// The same for someone who was not there: one HTML file that needs nothing else (as html_report.h).
std::string load_html_report(const LoadResult& result);

/// A value of the sweep as it is shown: "16", "cold"; empty without one.
std::string show_step(const Workload& workload, double at);
/// What the steps differ in: "clients"; empty where there is one step.
std::string sweep_word(Sweep::Over over);

/// The meters of a run: a row each, with its heading. Empty where it has none.
std::string meters_table(const RunResult& result);

/// What streams and meters cost each other: each alone, and beside the other. Empty where that was not
/// measured.
std::string alone_table(const RunResult& result);

/// "4 KiB" where it is whole, else bytes.
std::string show_block(std::uint64_t bytes);

}  // namespace streamsim::report
