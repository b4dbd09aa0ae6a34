// The verdict as a JUnit report, for acceptance in a build server: a test case a stream.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim {

/// How every such file begins.
inline constexpr std::string_view kJunitReportBegins =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- streamsim verdict -->";

std::string junit_report(const RunResult& result);

}  // namespace streamsim
