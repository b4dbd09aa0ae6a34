// The most streams of a truth, where arithmetic says it.
#include "truth/truth_most.h"

#include <gtest/gtest.h>

#include <string>

#include "media/catalogue/catalogue.h"

namespace streamsim::test {
namespace {

std::uint64_t most(const TruthSpec& spec, const char* format, std::uint32_t seats) {
    const auto catalogue = media::Catalogue::load(std::string(STREAMSIM_SOURCE_DIR) + "/formats/media");
    const auto found = truth_most(spec, *catalogue->find(format), seats, 1, seconds(20));
    EXPECT_TRUE(found) << (found ? "" : found.error().problems.front());
    return found ? *found : 0;
}

/// Only the links and the uplink are slow; dpx10 is 33,185,792 bytes, 24 times a second: 796.5 MB/s.
TEST(TruthMost, IsWhatTheSlowestPartAllows) {
    TruthSpec spec;
    spec.workers = spec.channels = 256;
    spec.channel_bytes_per_s = 2e9;
    spec.seat_bytes_per_s = 2.5e9;
    spec.uplink_bytes_per_s = 100e9;
    EXPECT_EQ(most(spec, "dpx10", 1), 3u);
    EXPECT_EQ(most(spec, "dpx10", 2), 6u);
    spec.uplink_bytes_per_s = 3.4e9;
    EXPECT_EQ(most(spec, "dpx10", 2), 4u);
}

TEST(TruthMost, CachesHoldNothingThatWasNotReadBefore) {
    TruthSpec spec;
    spec.seat_bytes_per_s = spec.uplink_bytes_per_s = 10e9;
    spec.channels = 8;
    spec.channel_bytes_per_s = 200e6;
    const std::uint64_t without = most(spec, "prores-uhd", 1);
    spec.memory_bytes = std::uint64_t{256} << 30;
    EXPECT_LE(most(spec, "prores-uhd", 1), without + 1);
    EXPECT_GT(without, 5u);
}

TEST(TruthMost, OtherLoadAndGarbageCostStreams) {
    TruthSpec spec;
    spec.uplink_bytes_per_s = 1.2e9;
    const std::uint64_t alone = most(spec, "prores-uhd", 2);
    spec.burst_share = 0.5;
    spec.burst_length = seconds(2);
    spec.burst_gap = seconds(3);
    EXPECT_LT(most(spec, "prores-uhd", 2), alone);
    spec.burst_share = 0;
    spec.garbage_gap = milliseconds(500);
    spec.garbage_pause = seconds(1);
    EXPECT_LT(most(spec, "prores-uhd", 2), alone);
}

}  // namespace
}  // namespace streamsim::test
