// Which differences between two runs are no noise.
#include "judge/compare_rule.h"

#include <gtest/gtest.h>

namespace streamsim::judge {
namespace {

constexpr double kMillisecond = 1e6;

RunResult run_at(FrameRate rate, bool pass = true) {
    RunResult run;
    run.streams.resize(1);
    run.streams[0].rate = rate;
    run.verdict.pass = pass;
    return run;
}

bool percentile_differs(const RunResult& a, const RunResult& b, double before_ns, double after_ns) {
    return clearly_differs(FigureKind::percentile, a, b, before_ns, after_ns);
}

TEST(CompareRule, APercentileChangesByThreeTimesAndAQuarterOfAFramePeriod) {
    const RunResult run = run_at({25, 1});
    EXPECT_TRUE(percentile_differs(run, run, 5 * kMillisecond, 15.1 * kMillisecond));
    EXPECT_FALSE(percentile_differs(run, run, 5 * kMillisecond, 14.9 * kMillisecond))
        << "not three times as much";
    EXPECT_TRUE(percentile_differs(run, run, 12 * kMillisecond, 1 * kMillisecond));
    EXPECT_FALSE(percentile_differs(run, run, 1 * kMillisecond, 11 * kMillisecond)) << "10 ms at 25 fps";
    EXPECT_FALSE(percentile_differs(run, run, 1 * kMillisecond, 1 * kMillisecond));
}

TEST(CompareRule, TheFasterStreamOfBothRunsCounts) {
    EXPECT_TRUE(percentile_differs(run_at({25, 1}), run_at({50, 1}), 1 * kMillisecond, 6.5 * kMillisecond));
    EXPECT_TRUE(percentile_differs(run_at({50, 1}), run_at({25, 1}), 1 * kMillisecond, 6.5 * kMillisecond));
    RunResult without = run_at({50, 1});
    without.streams[0].paced = false;
    EXPECT_FALSE(percentile_differs(run_at({25, 1}), without, 1 * kMillisecond, 6.5 * kMillisecond));
}

TEST(CompareRule, AMarginDiffersWhereItsSignDoes) {
    const RunResult run = run_at({25, 1});
    EXPECT_TRUE(clearly_differs(FigureKind::margin, run, run, 6 * kMillisecond, -6 * kMillisecond));
    EXPECT_FALSE(clearly_differs(FigureKind::margin, run, run, 4 * kMillisecond, -4 * kMillisecond));
    EXPECT_TRUE(
        clearly_differs(FigureKind::margin, run, run_at({25, 1}, false), 4 * kMillisecond, -4 * kMillisecond));
    EXPECT_FALSE(
        clearly_differs(FigureKind::margin, run, run_at({25, 1}, false), 50 * kMillisecond, 4 * kMillisecond));
}

TEST(CompareRule, MissesDifferWhereOneRunFailedAndHadThem) {
    RunResult failed = run_at({25, 1}, false);
    EXPECT_TRUE(clearly_differs(FigureKind::misses, run_at({25, 1}), failed, 0, 3));
    EXPECT_FALSE(clearly_differs(FigureKind::misses, run_at({25, 1}), failed, 2, 3));
    EXPECT_FALSE(clearly_differs(FigureKind::misses, run_at({25, 1}), run_at({25, 1}), 0, 3));
    failed.interrupted = true;
    EXPECT_FALSE(clearly_differs(FigureKind::misses, run_at({25, 1}), failed, 0, 3));
    EXPECT_FALSE(clearly_differs(FigureKind::other, run_at({25, 1}), failed, 0, 300));
}

}  // namespace
}  // namespace streamsim::judge
