// A comparison of results for people, for programs and for spreadsheets.
#pragma once

#include <string>
#include <string_view>

#include "report/compare/compare.h"

namespace streamsim::report {

/// The set-up's differences first, then the figures side by side. UTF-8 without colours; names from outside are
/// shown without their control characters.
std::string comparison_text(const Comparison& comparison);

/// How every such file begins.
inline constexpr std::string_view kComparisonJsonBegins = "{\n  \"schema\": \"streamsim.comparison\"";

/// Schema "streamsim.comparison", version 1 (formats/schema/comparison.json).
std::string comparison_json(const Comparison& comparison);

/// How every such file begins.
inline constexpr std::string_view kComparisonCsvBegins = "figure,unit,";

/// A row a figure: for each result a column with its name, and for each but the first one named "NAME: change".
/// RFC 4180; a field is empty where there is no such figure.
std::string comparison_csv(const Comparison& comparison);

/// How every such file begins.
inline constexpr std::string_view kComparisonHtmlBegins = "<!DOCTYPE html>\n<!-- streamsim comparison -->";

/// One file that needs nothing else.
std::string comparison_html(const Comparison& comparison);

// What the writers share.

/// "12.3 ms", "plays"; "-" where there is none.
std::string shown(const ComparedFigure& figure, const ComparedValue& value);
/// "worse", "changed", "the same", "within the noise (12.3 ms)", "not comparable"; empty: the reference.
std::string shown_change(const ComparedFigure& figure, const ComparedValue& value);
/// How a result is called in a table: "A", "B", ... "27".
std::string column_name(std::size_t index);
/// What the noise is, and what would make it better known.
std::string noise_text(const Comparison& comparison);

}  // namespace streamsim::report
