#include "judge/expectation.h"

#include <fmt/format.h>

#include "base/units.h"

namespace streamsim::judge {
namespace {

void compare(std::vector<std::string>& out,
             const char* what,
             const std::optional<ScenarioExpectation::Bounds>& expected,
             std::uint64_t found) {
    if (!expected || (found >= expected->min && found <= expected->max)) return;
    out.push_back(fmt::format("{} {}, and {} to {} were expected", show_count(found), what,
                              show_count(expected->min), show_count(expected->max)));
}

}  // namespace

std::vector<std::string> surprises(const ScenarioExpectation& expected, const RunResult& result) {
    std::vector<std::string> out;
    if (expected.plays && *expected.plays != result.verdict.pass) {
        out.emplace_back(result.verdict.pass ? "it plays, and was expected not to"
                                             : "it does not play, and was expected to");
    }
    const std::string limit = to_string(result.verdict.limit);
    if (expected.limit && *expected.limit != limit)
        out.push_back(fmt::format("the limit is {}, and {} was expected", limit, *expected.limit));
    compare(out, "frames dropped", expected.dropped, result.totals.dropped - result.totals.startup_drops);
    compare(out, "frames late", expected.late, result.totals.late);
    compare(out, "frames failed", expected.failed, result.totals.failed);
    compare(out, "stalls", expected.stalls, result.totals.stalls);
    return out;
}

}  // namespace streamsim::judge
