// Other load on the front end of a node, and response times by measured quantiles.
#include <cmath>

#include "sim/parts/latency.h"
#include "sim/sim_fixture.h"

namespace streamsim::test {
namespace {

using Kind = sim::ClusterFault::Kind;

/// The front end takes one kBlockNs for a block, and nothing else takes any time.
sim::ClusterOptions loaded(double share, Duration length, Duration gap, std::uint64_t seed = 1) {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.node.front_end.bits_per_s = 8e9;
    options.model.node.other_load = {share, length, gap};
    options.warm = true;
    options.seed = seed;
    return options;
}

/// Times of reads one after the other, in blocks of time.
std::vector<double> times_of_reads(sim::ClusterOptions options, int reads) {
    SimRun run(std::move(options));
    const FileId file = run.open("a.mov");
    std::vector<double> times;
    for (int i = 0; i < reads; ++i)
        times.push_back(static_cast<double>(run.time_of_read(file, 0, kMiB).ns) / kBlockNs);
    return times;
}

double share_of(const std::vector<double>& times, double blocks) {
    double share = 0;
    for (const double time : times)
        share += std::abs(time - blocks) < 0.01 ? 1 / static_cast<double>(times.size()) : 0;
    return share;
}

TEST(OtherLoad, TakesItsShareOfTheRateForItsShareOfTheTime) {
    // A read takes 1 or 2 blocks of time: the load is there for a third of the time, hence for a fifth of
    // reads.
    const auto times = times_of_reads(loaded(0.5, milliseconds(50), milliseconds(100)), 20'000);
    EXPECT_NEAR(share_of(times, 2), 0.2, 0.03);
    EXPECT_NEAR(share_of(times, 1) + share_of(times, 2), 1, 1e-9)
        << "a rate holds from the beginning of a read";
}

TEST(OtherLoad, IsDecidedByTheSeed) {
    const auto times = [](std::uint64_t seed) {
        return times_of_reads(loaded(0.5, milliseconds(5), milliseconds(10), seed), 200);
    };
    EXPECT_EQ(times(1), times(1));
    EXPECT_NE(times(1), times(2));
    EXPECT_NEAR(share_of(times_of_reads(loaded(0, {}, {}), 20), 1), 1, 1e-9) << "there is none";
}

TEST(OtherLoad, EachNodeHasItsOwn) {
    sim::ClusterOptions options = loaded(0.5, milliseconds(5), milliseconds(5));
    options.model.nodes = 2;
    options.seats = {{0, {}}, {1, {}}};
    SimRun run(options);
    const FileId file = run.open("a.mov");
    int differ = 0;
    for (int i = 0; i < 100; ++i) {
        const ReadOp& one = run.read(file, 0, kMiB, {.seat = 0});
        const ReadOp& other = run.read(file, 0, kMiB, {.seat = 1});
        run.loop.run();
        if (one.completed_at != other.completed_at) ++differ;
    }
    EXPECT_GT(differ, 10);
}

TEST(OtherLoad, MultipliesWithAFault) {
    SimRun run(loaded(0.5, seconds(1000), nanoseconds(1)));
    const FileId file = run.open("a.mov");
    EXPECT_EQ(run.time_of_read(file, 0, kMiB).ns, 2 * kBlockNs);
    run.cluster.at(run.loop.now(), {.kind = Kind::link_slows, .node = 0, .factor = 0.1});
    EXPECT_EQ(run.time_of_read(file, 0, kMiB).ns, 20 * kBlockNs);
}

TEST(Quantiles, AreThoseOfTheTimesThatAreDrawn) {
    LatencyModel model;
    model.by_quantiles = true;
    for (std::size_t i = 0; i < model.quantiles.size(); ++i)
        model.quantiles[i] = microseconds(std::array{100, 150, 300, 900, 2000, 5000}[i]);
    constexpr std::uint64_t kDraws = 200'000;
    std::array<double, 6> below{};
    std::int64_t least = INT64_MAX;
    for (std::uint64_t key = 0; key < kDraws; ++key) {
        const Duration drawn = sim::draw_latency(model, key);
        for (std::size_t i = 0; i < below.size(); ++i)
            below[i] += drawn <= model.quantiles[i] ? 1.0 / kDraws : 0;
        least = std::min(least, drawn.ns);
    }
    for (std::size_t i = 0; i < below.size(); ++i) EXPECT_NEAR(below[i], LatencyModel::kShares[i], 0.003) << i;
    EXPECT_NEAR(static_cast<double>(least), 87'500, 200) << "on with the slope between p10 and p50";
    EXPECT_NEAR(static_cast<double>(sim::quantile_of(model, 0.7).ns), 225e3, 1) << "straight between two";
    EXPECT_EQ(sim::quantile_of(model, 1), microseconds(5000));
    model.quantiles[0] = microseconds(10);
    EXPECT_EQ(sim::quantile_of(model, 0), Duration{}) << "never negative";
}

}  // namespace
}  // namespace streamsim::test
