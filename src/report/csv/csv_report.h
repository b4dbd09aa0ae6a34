// One row a frame slot, for spreadsheets and scripts (RFC 4180). A field is empty where there was nothing: a
// frame that was never read has no completed_ns.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// Takes the text piece by piece, in order; pieces end with whole rows.
using TextSink = std::function<void(std::string_view)>;

/// The header and `result.frames`, in pieces of about 64 KiB: a day of frames never stands in memory twice.
void csv_report(const RunResult& result, const TextSink& sink);

/// The parts of it, for a caller that has its rows one by one. Both end with the line's CR LF.
std::string csv_header();
void append_csv_row(const FrameRow& row, std::string& out);

// What tables of other things share with it.
inline constexpr std::string_view kCsvLineEnd = "\r\n";
/// Appends a cell of text, never of a number, in UTF-8. Control characters and bytes that are not UTF-8 are
/// made visible, as printable() does. A cell with a comma or a quote is quoted; quotes inside are doubled. An
/// apostrophe comes before a text that a spreadsheet would take for a formula (one that begins with = + - @).
void append_csv_text(std::string_view text, std::string& out);

}  // namespace streamsim::report
