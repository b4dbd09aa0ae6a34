// A calibration as text and HTML: its numbers, and the probes beside the model.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/calibration.h"

namespace streamsim::report {

std::string calibration_text_report(const Calibration& calibration);
/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kCalibrationHtmlBegins = "<!DOCTYPE html>\n<!-- streamsim calibration -->";
std::string calibration_html_report(const Calibration& calibration);

/// "812 MB/s, median 9.8 ms, p99 14.1 ms": what a probe found.
std::string probe_finding(const ProbeRow& row);

}  // namespace streamsim::report
