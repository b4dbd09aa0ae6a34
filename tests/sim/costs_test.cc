// The cost of single numbers of a model, on reads whose times can be worked out by hand.
#include <gtest/gtest.h>

#include "sim/parts/file_table.h"
#include "sim/sim_fixture.h"

namespace streamsim::test {
namespace {

TEST(FilledDrives, LieFullFromTheOutermostZoneIn) {
    ClusterModel model = plain_model();
    model.drive.kind = DriveModel::Kind::rotational;
    model.drive.inner_bytes_per_s = 0.5e9;
    model.drive.capacity_bytes = 1'000'000'000'000;
    for (const double filled : {1.0, 0.05}) {
        model.drive.filled = filled;
        sim::FileTable files(model, {});
        std::uint64_t farthest = 0;
        for (int i = 0; i < 2000; ++i) {
            const std::uint32_t file = files.number_of("clip" + std::to_string(i) + ".mov");
            farthest = std::max(farthest, files.place(file, 0).position);
        }
        EXPECT_LE(farthest + model.block_bytes, static_cast<std::uint64_t>(filled * 1e12));
        EXPECT_GE(static_cast<double>(farthest), 0.98 * filled * 1e12) << "and all of that is used";
    }
}

/// How long a block takes that is in the cache, by how its file is read.
std::int64_t ns_of_read(const StrategyModel& strategy, sim::AccessStrategy access, bool files) {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.strategy = strategy;
    options.model.node.cores = 2;
    options.model.node.cpu_s_per_byte = 1e-9;
    options.strategy = access;
    const auto media = std::make_shared<PlainMedia>("a", 4, kMiB, files);
    options.media.emplace_back(media);
    SimRun run(options);
    const FileId file = run.open(media->path(0));
    run.time_of_read(file, 0, kMiB);
    return run.time_of_read(file, 0, kMiB).ns;
}

TEST(StrategyCosts, AreOfTheBytesThatAreReadByThatStrategy) {
    StrategyModel strategy;
    strategy.streaming_cpu_s_per_byte = 4e-9;
    strategy.filename_cpu_s_per_byte = 2e-9;
    const std::int64_t plain = ns_of_read({}, sim::AccessStrategy::as_media, false);
    const auto more = [&](sim::AccessStrategy access, bool files) {
        return ns_of_read(strategy, access, files) - plain;
    };
    const auto mib = static_cast<std::int64_t>(kMiB);  // and 1 ns: a rate is rounded down
    EXPECT_EQ(more(sim::AccessStrategy::as_media, false), 4 * mib + 1) << "a container is streamed";
    EXPECT_EQ(more(sim::AccessStrategy::as_media, true), 2 * mib + 1) << "a sequence is known by its names";
    EXPECT_EQ(more(sim::AccessStrategy::streaming, true), 4 * mib + 1);
    EXPECT_EQ(more(sim::AccessStrategy::filename_prefetch, false), 2 * mib + 1);
    EXPECT_EQ(more(sim::AccessStrategy::concurrency, false), 0);
    EXPECT_EQ(more(sim::AccessStrategy::random, false), 0);
}

TEST(SeatProcessor, ServesRequestsAtOnceAndDecodesSoMuchLater) {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.client.cpu_s_per_request = 1e-3;
    options.model.client.cpu_s_per_byte = 0x1p-30;
    SimRun run(options);
    const FileId file = run.open("a.mov");
    const Duration alone = run.time_of_read(file, 0, kMiB);
    const auto decoder = run.cluster.make_decoder(0, nullptr, milliseconds(100));
    DecodeOp frame;
    frame.done = {[](void*) {}, nullptr};
    const Instant begin = run.loop.now();
    decoder->decode(frame);
    run.read(file, kMiB, kMiB);
    run.loop.run();
    EXPECT_EQ(run.reads.back().completed_at - begin, alone);
    EXPECT_EQ(frame.completed_at - begin, milliseconds(100 + 1) + nanoseconds(976'563));
}

}  // namespace
}  // namespace streamsim::test
