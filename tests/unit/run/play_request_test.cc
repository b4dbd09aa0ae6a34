#include "run/plan/play_request.h"

#include <gtest/gtest.h>

namespace streamsim::run {
namespace {

TEST(TotalStreams, LeaveOutSeatsThatPlayNothing) {
    PlayRequest request;
    request.seats = 8;
    set_total_streams(request, 3);
    EXPECT_EQ(request.total_streams, 3U);
    EXPECT_EQ(request.seats, 3U);
    set_total_streams(request, 9);
    EXPECT_EQ(request.seats, 3U) << "there are no more";
}

TEST(TotalStreams, KeepAllSeatsOfRecordersAndMeters) {
    PlayRequest records;
    records.seats = 8;
    records.record.streams = 1;
    set_total_streams(records, 3);
    EXPECT_EQ(records.seats, 8U);
    PlayRequest loads;
    loads.seats = 8;
    loads.meters.emplace_back();
    set_total_streams(loads, 3);
    EXPECT_EQ(loads.seats, 8U);
    EXPECT_EQ(loads.total_streams, 3U);
}

}  // namespace
}  // namespace streamsim::run
