// The player on a modelled cluster: the same seed gives the same times, and it is fast.

#include "base/prng.h"
#include "sim/theatre.h"

namespace streamsim::test {
namespace {

/// A small cluster in which every part takes its time: four nodes, flash with a tail.
ClusterModel busy_model() {
    ClusterModel model;
    model.name = "busy";
    model.nodes = 4;
    model.node.front_end = {40e9, 0.94, microseconds(20)};
    model.node.back_end = {40e9, 0.94, microseconds(5)};
    model.node.cores = 8;
    model.node.cpu_s_per_open = 100e-6;
    model.node.cpu_s_per_request = 20e-6;
    model.node.cpu_s_per_byte = 0.5e-9;
    model.node.ram_bytes = 512 * kMiB;
    model.node.drives = 15;
    model.node.response = {microseconds(100), 0.2, 0.001, milliseconds(5)};
    model.drive.kind = DriveModel::Kind::flash;
    model.drive.outer_bytes_per_s = 100e6;
    model.drive.channels = 4;
    model.drive.access = {microseconds(150), 0.3, 0.01, milliseconds(2)};
    model.strategy = {4 * kMiB, 16 * kMiB, 4};
    model.client.cores = 32;
    model.client.cpu_ceiling = 0.85;
    model.client.cpu_s_per_request = 10e-6;
    model.client.cpu_s_per_byte = 0.3e-9;
    model.client.link = {40e9, 0.94, microseconds(50)};
    model.client.connections = 4;
    model.client.connection_bytes_per_s = 2e9;
    return model;
}

sim::ClusterOptions busy(std::uint64_t seed, std::uint32_t seats) {
    sim::ClusterOptions options;
    options.model = busy_model();
    options.seed = seed;
    for (std::uint32_t i = 0; i < seats; ++i) options.seats.push_back({i % 4, {}});
    return options;
}

TEST(PlayerOnCluster, TheSameSeedGivesTheSameTimes) {
    for (const bool files : {false, true}) {
        const Show show{.streams = 5, .files = files, .decode = milliseconds(20)};
        const PlayedCluster once = play(busy(1, 3), show);
        const PlayedCluster again = play(busy(1, 3), show);
        const PlayedCluster other = play(busy(2, 3), show);
        EXPECT_EQ(once.timing, again.timing);
        EXPECT_NE(once.timing, other.timing);
        EXPECT_EQ(once.on_time, 3u * 5 * 240);
    }
}

TEST(PlayerOnCluster, ReadingAheadIsWhatAClusterOfSlowDrivesPlaysWith) {
    sim::ClusterOptions options = busy(1, 1);
    options.model.drive.access.median = milliseconds(60);  // a block comes later than the next frame is due
    const Show show{.streams = 1, .slots = 480, .frame_bytes = 10'000'000, .files = true};
    const PlayedCluster with = play(options, show);
    options.strategy = sim::AccessStrategy::random;
    const PlayedCluster without = play(options, show);
    EXPECT_EQ(with.dropped, 0u);
    EXPECT_GT(without.dropped, 0u);
    EXPECT_GT(part(with.stats, "node 0 RAM").hits, 9 * part(without.stats, "node 0 RAM").hits);
}

TEST(PlayerOnCluster, AProcessorThatIsFullDropsFramesAndItsStatisticsSaySo) {
    // A core of 27.2 has 27.2 s in a second: 24 fps * 40 streams * 20 ms is 19.2; 60 streams are 28.8.
    const PlayedCluster fits =
        play(busy(1, 1), {.streams = 40, .frame_bytes = 10'000, .decode = milliseconds(20)});
    const PlayedCluster not_quite =
        play(busy(1, 1), {.streams = 60, .frame_bytes = 10'000, .decode = milliseconds(20)});
    EXPECT_EQ(fits.dropped, 0u);
    EXPECT_GT(not_quite.dropped, 0u);
    const std::vector<std::int64_t> busy_per_s = part(not_quite.stats, "seat 0 processor").busy_per_s;
    ASSERT_GE(busy_per_s.size(), 10u);
    EXPECT_GT(busy_per_s[5], 990'000'000);
    EXPECT_LT(part(fits.stats, "seat 0 processor").busy_per_s[5], 800'000'000);
}

}  // namespace
}  // namespace streamsim::test
