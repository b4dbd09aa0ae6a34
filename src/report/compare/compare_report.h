// A comparison of results for people, for programs and for spreadsheets.
#pragma once

#include <string>
#include <string_view>

#include "report/compare/compare.h"

namespace streamsim::report {

/// The differences of the set-up first, then the figures side by side. UTF-8 without colours; names from
/// outside are shown without their control characters.
std::string comparison_text(const Comparison& comparison);

/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kComparisonJsonBegins = "{\n  \"schema\": \"streamsim.comparison\"";

/// Schema "streamsim.comparison", version 1 (formats/schema/comparison.json).
std::string comparison_json(const Comparison& comparison);

/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kComparisonCsvBegins = "figure,unit,";

/// A row for each figure: for each result a column with its name, and for each but the first one named "NAME:
/// change". RFC 4180; a field is empty if the result has no such figure.
std::string comparison_csv(const Comparison& comparison);

/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kComparisonHtmlBegins = "<!DOCTYPE html>\n<!-- streamsim comparison -->";

/// One file that needs no other file and no network.
std::string comparison_html(const Comparison& comparison);

/// "12.3 ms", "plays"; "-" for none.
std::string shown_value(const ComparedFigure& figure, const ComparedValue& value);
/// "worse", "changed", "the same", "within the noise (12.3 ms)", "not comparable"; empty: the reference.
std::string shown_change(const ComparedFigure& figure, const ComparedValue& value);
/// The name of a result in a table: "A", "B", ... "27".
std::string column_name(std::size_t index);
/// The sources of the noise, and how more runs would tell it better.
std::string noise_text(const Comparison& comparison);

}  // namespace streamsim::report
