#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "result/merge.h"
#include "run/conclude/part_results.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

using testing::ElementsAre;

ServerTraffic traffic(const std::string& address, std::vector<std::uint32_t> seats, std::uint64_t requests) {
    ServerTraffic out;
    out.address = address;
    out.protocol = "NFSv3";
    out.seats = std::move(seats);
    out.connections = 2;
    out.read_bytes = 1 << 20;
    out.requests = requests;
    out.received_bytes = 1000;
    out.reconnects = 1;
    return out;
}

TEST(ServerResults, WhatAllStoragesExchangedWithANodeIsOneEntry) {
    ServerTraffic slow = traffic("10.0.0.1", {2, 0}, 30);
    slow.rtt_ns = 7;
    const auto all = server_results({{traffic("10.0.0.1", {0, 1}, 50), traffic("10.0.0.2", {3}, 9)}, {slow}},
                                    {{0, 20}, {1, 10}, {2, 10}, {3, 0}});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].address, "10.0.0.1");
    EXPECT_THAT(all[0].seats, ElementsAre(0, 1, 2));
    EXPECT_EQ(all[0].connections, 4U);
    EXPECT_EQ(all[0].read_bytes, 1U << 20);
    EXPECT_EQ(all[0].requests, 80U);
    EXPECT_EQ(all[0].requests_per_frame, 2.0);
    EXPECT_EQ(all[0].received_bytes, 2000U);
    EXPECT_EQ(all[0].reconnects, 2U);
    EXPECT_EQ(all[0].rtt_ns, 7);
    EXPECT_EQ(all[1].address, "10.0.0.2");
    EXPECT_EQ(all[1].requests_per_frame, 0) << "no frame was read from it";
    EXPECT_EQ(all[1].rtt_ns, std::nullopt);
}

TEST(ServerResults, OfTwoComputersHaveTheRequestsOfAllTheirFrames) {
    PlayRequest request = test::request_on("sim:null", {"prores-hd"});
    request.duration = seconds(1);
    request.seats = 2;
    request.keep_histograms = true;
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        request.first_seat = rank;
        request.own_seats = 1;
        SeatResult own;
        own.rank = rank;
        own.seats = {rank};
        own.start_ns = 0;
        parts.push_back(test::result_of(request));
        parts.back().servers = {{.address = "10.0.0.1", .requests = 200 + rank * 100}};
        parts.back().servers[0].requests_per_frame = 2 - rank;
        result::become_part("r1", 2, own, parts.back());
    }
    const RunResult whole = *result::merge_results(parts);
    ASSERT_EQ(whole.servers.size(), 1U);
    EXPECT_EQ(whole.servers[0].requests, 500U);
    EXPECT_EQ(whole.servers[0].requests_per_frame, 1.25) << "for 100 frames and 300";
}

TEST(ServerResults, WithoutServersThereAreNone) {
    EXPECT_TRUE(server_results({{}, {}}, {{0, 20}}).empty());
}

}  // namespace
}  // namespace streamsim::run
