// The verdict as a JUnit report, for acceptance in a build server: a test case a stream.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// How every such file begins.
inline constexpr std::string_view kJunitReportBegins =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- streamsim verdict -->";

/// One <testsuite> with a <testcase> a stream: classname "FORMAT.seat-N", name "stream N: CLIP". A stream that
/// did not play has a <failure> with the verdict's sentence and its counts; of an interrupted run the others
/// have an <error>. Where the verdict fails by no stream of its own (--require-cold, nothing played), a case
/// named "verdict" says so. Host, target, seed, digest and the like are properties. Times are seconds.
std::string junit_report(const RunResult& result);

}  // namespace streamsim::report
