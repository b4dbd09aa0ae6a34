#include "judge/compare_rule.h"

#include <algorithm>
#include <cmath>

namespace streamsim::judge {
namespace {

constexpr double kPercentileFactorMin = 3;  // a percentile that changes by less may be noise
constexpr double kTightPeriods = 0.25;      // a margin below this share of a frame period is tight

/// The tight margin of the fastest stream of either run; 0: nothing has a deadline.
double tight_ns(const RunResult& a, const RunResult& b) {
    double shortest = 0;
    for (const RunResult* run : {&a, &b}) {
        for (const StreamResult& stream : run->streams) {
            if (!stream.paced) continue;
            const auto period = static_cast<double>(stream.rate.period().ns);
            shortest = shortest == 0 ? period : std::min(shortest, period);
        }
    }
    return shortest * kTightPeriods;
}

}  // namespace

bool pass_and_failure(const RunResult& a, const RunResult& b) {
    return !a.interrupted && !b.interrupted && a.verdict.pass != b.verdict.pass;
}

bool clearly_differs(FigureKind kind, const RunResult& a, const RunResult& b, double before, double after) {
    const bool counts = std::abs(after - before) > tight_ns(a, b);
    switch (kind) {
        case FigureKind::other: return false;
        case FigureKind::misses: return pass_and_failure(a, b) && (before == 0) != (after == 0);
        case FigureKind::margin: return (before < 0) != (after < 0) && (counts || pass_and_failure(a, b));
        case FigureKind::percentile:
            return counts && std::max(before, after) >= kPercentileFactorMin * std::min(before, after);
    }
    return false;
}

double frames_due(const RunResult& run) {
    return static_cast<double>(std::max<std::uint64_t>(
        run.totals.scheduled - std::min(run.totals.scheduled, run.totals.cancelled), 1));
}

}  // namespace streamsim::judge
