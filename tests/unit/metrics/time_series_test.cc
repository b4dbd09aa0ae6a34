#include "metrics/time_series.h"

#include <gtest/gtest.h>

namespace streamsim::metrics {
namespace {

TEST(TimeSeries, KeepsASecondAnIntervalAndDoublesWhenItOutgrowsThem) {
    TimeSeries series(4);
    for (int second = 0; second < 4; ++second) series.at(milliseconds(second * 1000 + 999)).bytes += 10;
    EXPECT_EQ(series.interval(), seconds(1));
    EXPECT_EQ(series.intervals().size(), 4u);
    series.at(seconds(9)).bytes += 5;
    EXPECT_EQ(series.interval(), seconds(4));
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
    a.at(seconds(1)).bytes = 1;
    b.at(seconds(7)).bytes = 2;
    b.at(nanoseconds(-5)).bytes = 4;
    a.merge(b);
    EXPECT_EQ(a.interval(), seconds(2));
    EXPECT_EQ(a.intervals()[0].bytes, 5u);
    EXPECT_EQ(a.intervals()[3].bytes, 2u);
}

}  // namespace
}  // namespace streamsim::metrics
