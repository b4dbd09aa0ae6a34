// The verdict as a JUnit report, for acceptance in a build server: a test case for each stream.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kJunitReportBegins =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- streamsim verdict -->";

/// One <testsuite> with a <testcase> for each stream: classname "FORMAT.seat-N", name "stream N: CLIP". A
/// stream that did not play has a <failure> with the verdict's sentence and its counts; of an interrupted run
/// the others have an <error>. If the verdict fails without a failed stream (--require-cold, nothing
/// played), a case named "verdict" says so. Host, target, seed, digest and the like are properties. Times are
/// seconds.
std::string junit_report(const RunResult& result);

}  // namespace streamsim::report
