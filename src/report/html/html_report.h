// Results as one HTML file each that needs no other file and no network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "streamsim/load_result.h"
#include "streamsim/max_result.h"
#include "streamsim/prediction_result.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

/// The beginning of every such file, by which a later run recognises its kind. That of a play is that of all
/// pages of earlier versions, too.
inline constexpr std::string_view kHtmlReportBegins = "<!DOCTYPE html>\n<!-- streamsim report -->";
inline constexpr std::string_view kLoadHtmlBegins = "<!DOCTYPE html>\n<!-- streamsim load report -->";
inline constexpr std::string_view kMaxHtmlBegins = "<!DOCTYPE html>\n<!-- streamsim stream-count sheet -->";
inline constexpr std::string_view kPredictionHtmlBegins = "<!DOCTYPE html>\n<!-- streamsim prediction -->";

namespace html {
/// A page in parts, for a server that sends them anew while they change.
struct Page {
    std::string title;
    std::string main;  // the content of its <main>
    std::string
        data;  // the numbers of its charts, JSON that is safe in a script element; empty: there are none
    std::string_view begins = kHtmlReportBegins;
};
}  // namespace html

html::Page html_report_page(const RunResult& result);
std::string html_report(const RunResult& result);
std::string load_html_report(const LoadResult& result);
/// The stream-count sheet of one search, or of several side by side. REQUIRES: one or more, each with a format.
std::string max_html_report(const std::vector<MaxResult>& results);
std::string prediction_html_report(const PredictionResult& result);

}  // namespace streamsim::report
