#include "metrics/time_series.h"

#include <gtest/gtest.h>

namespace streamsim::metrics {
namespace {

TEST(TimeSeries, BeginsWithTenMillisecondsAndDoublesWhenItOutgrowsThem) {
    TimeSeries series(4);
    for (int interval = 0; interval < 4; ++interval) series.at(milliseconds(interval * 10 + 9)).bytes += 10;
    EXPECT_EQ(series.interval(), milliseconds(10));
    EXPECT_EQ(series.intervals().size(), 4u);
    series.at(milliseconds(90)).bytes += 5;
    EXPECT_EQ(series.interval(), milliseconds(40));
    ASSERT_EQ(series.intervals().size(), 3u);
    EXPECT_EQ(series.intervals()[0].bytes, 40u);
    EXPECT_EQ(series.intervals()[1].bytes, 0u);
    EXPECT_EQ(series.intervals()[2].bytes, 5u);
}

TEST(TimeSeries, KeepsExtremesAndSumsWhenIntervalsBecomeOne) {
    TimeSeries series(2);
    series.at({}).service_ns_max = 7;
    series.at({}).buffer_frames_min = 3;
    series.at(seconds(1)).service_ns_max = 9;
    series.at(seconds(1)).frames_dropped = 2;
    series.at(seconds(3)).frames_on_time = 1;
    EXPECT_EQ(series.intervals()[0].service_ns_max, 9);
    EXPECT_EQ(series.intervals()[0].buffer_frames_min, 3u);
    EXPECT_EQ(series.intervals()[0].frames_dropped, 2u);
}

TEST(TimeSeries, MergesSeriesOfDifferentLengths) {
    TimeSeries a(4);
    TimeSeries b(4);
    a.at(milliseconds(10)).bytes = 1;
    b.at(milliseconds(70)).bytes = 2;
    b.at(nanoseconds(-5)).bytes = 4;
    a.merge(b);
    EXPECT_EQ(a.interval(), milliseconds(20));
    EXPECT_EQ(a.intervals()[0].bytes, 5u);
    EXPECT_EQ(a.intervals()[3].bytes, 2u);
}

TEST(TimeSeries, ALongRunHasFiveHundredIntervalsOrMore) {
    for (const Duration length : {seconds(6), seconds(60), seconds(3'600), seconds(86'400)}) {
        TimeSeries series;
        for (Duration at{}; at < length; at = at + milliseconds(5)) {
            if (at.ns % (length.ns / 10'000 / 5'000'000 * 5'000'000 + 5'000'000) == 0)
                ++series.at(at).frames_on_time;
        }
        EXPECT_GE(series.intervals().size(), 500u) << length.ns;
        EXPECT_LE(series.intervals().size(), 1024u) << length.ns;
    }
}

TEST(LatencyCounts, APercentileIsWithinASixteenth) {
    LatencyCounts counts;
    EXPECT_EQ(counts.at_permille(500), 0);
    for (std::int64_t us = 1; us <= 1'000; ++us) counts.add(us * 50'000);
    const auto expect_near = [&counts](std::uint64_t permille, double ns) {
        EXPECT_NEAR(static_cast<double>(counts.at_permille(permille)), ns, ns / 16) << permille;
    };
    expect_near(500, 25e6);
    expect_near(990, 49.5e6);
    LatencyCounts more;
    for (int i = 0; i < 3'000; ++i) more.add(2'000'000'000);
    counts.add(more);
    expect_near(500, 2e9);
    more.add(-1);
    more.add(std::int64_t{1} << 60);
    EXPECT_GT(more.at_permille(1'000), 2'000'000'000);
}

}  // namespace
}  // namespace streamsim::metrics
