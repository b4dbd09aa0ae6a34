// One row for each frame slot, or for each operation of a workload's meters, for spreadsheets and scripts (RFC
// 4180). A field without a value is empty: a frame that was never read has no completed_ns.
#pragma once

#include <string>
#include <string_view>

#include "base/document/text_sink.h"
#include "streamsim/load_result.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

/// The header and `result.frames`, in pieces of about 64 KiB that end with whole rows: a day of frames is never
/// in memory twice.
void csv_report(const RunResult& result, const TextSink& sink);

/// The header and one row, for a caller that gets its rows one by one. Both end with CR LF.
std::string csv_header();
void append_csv_row(const FrameRow& row, std::string& out);

/// The beginning of every file of operations, by which a later run recognises it.
inline constexpr const char* kLoadCsvBegins = "step,seat,meter,user,transfer,operation,";
/// A row for each block, or other operation, that was kept: times in nanoseconds from the start of the step's
/// play.
std::string load_csv_report(const LoadResult& result);

/// The beginning of every file of streams, by which a later run recognises it.
inline constexpr std::string_view kStreamsCsvBegins = "seat,stream,format,";
/// One row for each stream: the CSV of a result that was read back, which has no frames. The columns are named
/// as in the result's document. A field is empty if the document has null.
std::string streams_csv(const RunResult& result);

// For other CSV files.
inline constexpr std::string_view kCsvLineEnd = "\r\n";
/// Appends a cell of text, never of a number, in UTF-8. Control characters and bytes that are not UTF-8 are
/// made visible, as printable() does. A cell with a comma or a quote is quoted; quotes inside are doubled. An
/// apostrophe comes before a text that a spreadsheet would take for a formula (one that begins with = + - @).
void append_csv_text(std::string_view text, std::string& out);

}  // namespace streamsim::report
