// The cluster as a whole on reads whose times can be worked out by hand.
#include <gmock/gmock.h>

#include <cerrno>

#include "sim/sim_fixture.h"

namespace streamsim::test {
namespace {

sim::ClusterOptions plain() {
    sim::ClusterOptions options;
    options.model = plain_model();
    return options;
}

TEST(Cluster, AReadTakesWhatItsPartsTake) {
    sim::ClusterOptions options = plain();
    ClusterModel& model = options.model;
    model.client.cpu_s_per_request = 1e-6;
    model.client.cpu_s_per_byte = 0x1p-30;
    model.client.cores = 2;
    model.client.cpu_ceiling = 0.5;
    model.client.link = {8e9, 1, microseconds(10)};
    model.node.front_end = {80e9, 0.5, microseconds(5)};
    model.node.cpu_s_per_request = 3e-6;
    model.node.cpu_s_per_byte = 0x1p-31;
    model.node.response.median = microseconds(50);
    model.drive.access.median = microseconds(200);
    SimRun run(options);
    const FileId file = run.open("a.mov");
    const Duration request =
        microseconds(1) + microseconds(10 + 5 + 50) + microseconds(3) + nanoseconds(488'282);
    const Duration cold = run.time_of_read(file, 0, kMiB);
    const std::int64_t bytes = kBlockNs;  // at 1 GB/s
    const Duration back = nanoseconds((bytes + 4) / 5) + microseconds(15) + nanoseconds(bytes + 976'563);
    EXPECT_EQ(cold, request + microseconds(200) + nanoseconds(bytes) + back);
    EXPECT_EQ(run.time_of_read(file, 0, kMiB), request + back) << "from the cache";
    EXPECT_EQ(part(run.stats(), "node 0 RAM").hits, 1u);
    EXPECT_EQ(part(run.stats(), "node 0 RAM").misses, 1u);
    EXPECT_EQ(part(run.stats(), "seat 0 link").bytes, 2 * kMiB);
    EXPECT_EQ(part(run.stats(), "seat 0 link").busy_ns, 2 * bytes);
}

TEST(Cluster, AnOpenTakesRequestsAndNoBytes) {
    sim::ClusterOptions options = plain();
    options.model.node.cpu_s_per_open = 40e-6;
    options.model.client.link.latency = microseconds(100);
    SimRun run(options);
    OpenOp op;
    op.done = {[](void*) {}, nullptr};
    op.path = "a";
    run.storage->open(op);
    run.loop.run();
    EXPECT_EQ(op.completed_at, Instant{} + microseconds(240));
}

TEST(Cluster, StripesEvenlyAndTakesTheBackEndForOtherNodes) {
    sim::ClusterOptions options = plain();
    options.model.nodes = 4;
    options.model.node.drives = 3;
    options.model.node.ram_bytes = 0;
    options.model.node.back_end = {8e9, 1, {}};
    SimRun run(options);
    const FileId file = run.open("a.mov");
    for (std::uint64_t block = 0; block < 120; ++block) run.read(file, block * kMiB, kMiB);
    run.loop.run();
    const auto stats = run.stats();
    for (std::uint32_t node = 0; node < 4; ++node) {
        for (std::uint32_t drive = 0; drive < 3; ++drive) {
            const std::string name = "node " + std::to_string(node) + " drive " + std::to_string(drive);
            EXPECT_EQ(part(stats, name).requests, 10u);
        }
    }
    EXPECT_EQ(part(stats, "node 0 back end").requests, 90u);
    EXPECT_EQ(part(stats, "node 1 back end").requests, 0u);
    EXPECT_EQ(run.loop.now(), Instant{} + nanoseconds(kBlockNs * 91)) << "the back end is full all the time";
}

TEST(Cluster, ABlockIsFetchedOnceHoweverManyWantIt) {
    sim::ClusterOptions options = plain();
    options.seats.resize(3);
    SimRun run(options);
    const FileId file = run.open("a.mov");
    for (std::uint32_t i = 0; i < 30; ++i) run.read(file, i * 1000, 5000, {.seat = i % 3});
    run.loop.run();
    for (const ReadOp& op : run.reads) EXPECT_EQ(op.completed_at - op.submitted_at, nanoseconds(kBlockNs));
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 1u);
    run.read(file, kMiB - 10, 20);  // touches a block that is there and one that is not
    run.loop.run();
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 2u);
}

TEST(Cluster, StreamingReadsAheadAndAJumpEndsIt) {
    sim::ClusterOptions options = plain();
    options.model.strategy.streaming_bytes = 8 * kMiB;
    SimRun run(options);
    const FileId file = run.open("a.mov");
    EXPECT_EQ(run.time_of_read(file, 0, kMiB), nanoseconds(kBlockNs));
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 9u);
    EXPECT_EQ(run.time_of_read(file, kMiB, 2 * kMiB), Duration{});
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 11u) << "two further on";
    run.time_of_read(file, 40 * kMiB, kMiB);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 12u) << "a jump is not believed yet";
    run.time_of_read(file, 41 * kMiB, kMiB);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 13u);
    run.time_of_read(file, 42 * kMiB, kMiB);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 22u);
}

TEST(Cluster, FramesBackwardsAreJumpsAndOvertakenOnesAreNot) {
    sim::ClusterOptions options = plain();
    options.model.strategy.streaming_bytes = 8 * kMiB;
    options.media.emplace_back(std::make_shared<PlainMedia>("a", 40, kMiB, false));
    const auto fetched_for = [&](const std::vector<std::uint64_t>& frames, std::vector<std::uint64_t> slots) {
        SimRun run(options);
        const FileId file = run.open("a.mov");
        for (std::size_t i = 0; i < frames.size(); ++i)
            run.time_of_read(file, frames[i] * kMiB, kMiB, {.slot = slots[i]});
        return part(run.stats(), "node 0 drive 0").requests;
    };
    EXPECT_EQ(fetched_for({20, 19, 18, 17, 16, 15}, {0, 1, 2, 3, 4, 5}), 6U) << "the frames alone";
    EXPECT_EQ(fetched_for({1, 0, 3, 2, 4}, {1, 0, 3, 2, 4}), 13U) << "up to 8 MiB behind frame 4";
}

TEST(Cluster, RandomNeverReadsAhead) {
    sim::ClusterOptions options = plain();
    options.model.strategy = {4 * kMiB, 8 * kMiB, 3};
    options.strategy = sim::AccessStrategy::random;
    SimRun run(options);
    const FileId file = run.open("a.mov");
    for (std::uint64_t block = 0; block < 10; ++block) run.time_of_read(file, block * kMiB, kMiB);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 10u);
}

TEST(Cluster, NothingIsReadBehindTheEndOfAFile) {
    sim::ClusterOptions options = plain();
    options.model.strategy.streaming_bytes = 100 * kMiB;
    options.media.emplace_back(std::make_shared<PlainMedia>("a", 5, kMiB - 100, false));
    SimRun run(options);
    const FileId file = run.open("a.mov");
    run.time_of_read(file, 0, kMiB);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 5u);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").bytes, 5 * (kMiB - 100));
    ReadOp& last = run.read(file, 4 * kMiB, kMiB);
    ReadOp& behind = run.read(file, 5 * kMiB, kMiB);
    run.loop.run();
    EXPECT_EQ(last.bytes, kMiB - 500);
    EXPECT_EQ(behind.bytes, 0u);
    EXPECT_EQ(behind.error, 0);
}

TEST(Cluster, FileNamesAreFollowedOnceTwoWereReadInOrder) {
    sim::ClusterOptions options = plain();
    options.model.strategy.filename_files = 3;
    const auto media = std::make_shared<PlainMedia>("a", 10, 2 * kMiB, true);
    options.media.emplace_back(media);
    SimRun run(options);
    const auto fetched_after = [&](std::uint64_t frame) {
        run.time_of_read(run.open(media->path(frame)), 0, 2 * kMiB);
        return part(run.stats(), "node 0 drive 0").requests;
    };
    EXPECT_EQ(fetched_after(4), 2U) << "its own two blocks";
    EXPECT_EQ(fetched_after(5), 10U) << "its own, and three files";
    EXPECT_EQ(fetched_after(6), 12U) << "9";
    EXPECT_EQ(fetched_after(7), 12U) << "the sequence ends with frame 9";
    EXPECT_EQ(fetched_after(0), 14U) << "a jump";
    EXPECT_EQ(fetched_after(1), 20U) << "its own, 2 and 3; 4 is there";
    EXPECT_EQ(fetched_after(2), 20U) << "5 is there";
}

TEST(Cluster, NamesThatAreOnlyOpenedAreNotFollowed) {
    sim::ClusterOptions options = plain();
    options.model.strategy.filename_files = 2;
    const auto media = std::make_shared<PlainMedia>("a", 20, kMiB, true);
    options.media.emplace_back(media);
    SimRun run(options);
    std::vector<FileId> files;
    for (std::uint64_t frame = 0; frame < 8; ++frame) files.push_back(run.open(media->path(frame)));
    const auto fetched = [&] { return part(run.stats(), "node 0 drive 0").requests; };
    EXPECT_EQ(fetched(), 0U);
    run.time_of_read(files[0], 0, kMiB);
    run.time_of_read(files[1], 0, kMiB);
    EXPECT_EQ(fetched(), 4U) << "2 and 3, not what follows the last that was opened";
    run.time_of_read(files[1], 0, kMiB);
    EXPECT_EQ(fetched(), 4U);
}

TEST(Cluster, AWarmCacheHasTheMediaAsFarAsItReaches) {
    sim::ClusterOptions options = plain();
    options.warm = true;
    options.model.node.ram_bytes = 3 * kMiB;
    options.model.node.ssd_bytes = 2 * kMiB;
    options.model.node.ssd = {16e9, 1, microseconds(7)};
    SimRun run(options);
    const FileId file = run.open("a.mov");
    std::vector<std::int64_t> times;
    for (std::uint64_t block = 0; block < 6; ++block) {
        times.push_back(run.time_of_read(file, block * kMiB, kMiB).ns);
    }
    const std::int64_t ssd = kBlockNs / 2 + 7000;
    EXPECT_THAT(times, testing::ElementsAre(0, 0, 0, ssd, kBlockNs, kBlockNs)) << "block 0 left the RAM for it";
}

TEST(Cluster, WhatLeavesTheRamIsOnTheSsd) {
    sim::ClusterOptions options = plain();
    options.model.node.ram_bytes = kMiB;
    options.model.node.ssd_bytes = kMiB;
    options.model.node.ssd = {16e9, 1, {}};
    SimRun run(options);
    const FileId file = run.open("a.mov");
    EXPECT_EQ(run.time_of_read(file, 0, kMiB).ns, kBlockNs);
    EXPECT_EQ(run.time_of_read(file, kMiB, kMiB).ns, kBlockNs);
    EXPECT_EQ(run.time_of_read(file, 0, kMiB).ns, kBlockNs / 2);
    EXPECT_EQ(part(run.stats(), "node 0 SSD").hits, 1u);
    EXPECT_EQ(part(run.stats(), "node 0 RAM").evictions, 2u);
}

TEST(Cluster, SeatsShareAFrontEndFairlyAndStreamsALink) {
    sim::ClusterOptions options = plain();
    options.seats.resize(2);
    options.warm = true;
    options.model.node.front_end.bits_per_s = 8e9;
    SimRun run(options);
    const FileId file = run.open("a.mov");
    for (int i = 0; i < 30; ++i) run.read(file, 0, kMiB, {.seat = 0});
    for (int i = 0; i < 10; ++i) run.read(file, 0, kMiB, {.seat = 1});
    run.loop.run();
    EXPECT_EQ(run.reads[39].completed_at, Instant{} + nanoseconds(21 * kBlockNs));
    EXPECT_EQ(run.reads[29].completed_at, Instant{} + nanoseconds(40 * kBlockNs));
}

TEST(Cluster, OneConnectionIsNoFasterThanOne) {
    sim::ClusterOptions options = plain();
    options.warm = true;
    options.model.client.link.bits_per_s = 32e9;
    options.model.client.connection_bytes_per_s = 1e9;
    const auto time = [&](std::uint32_t connections) {
        options.model.client.connections = connections;
        SimRun run(options);
        const FileId file = run.open("a.mov");
        for (int i = 0; i < 24; ++i) run.read(file, 0, kMiB);
        run.loop.run();
        return run.loop.now().ns;
    };
    const std::int64_t last_through_the_link = kBlockNs / 4;
    EXPECT_EQ(time(1), 24 * kBlockNs + last_through_the_link);
    EXPECT_EQ(time(3), 8 * kBlockNs + 3 * last_through_the_link);
    EXPECT_EQ(time(8), kBlockNs + 24 * last_through_the_link) << "the link is full behind the first";
}

TEST(Cluster, ANarrowPortHoldsASeatToItsRate) {
    sim::ClusterOptions options = plain();
    options.warm = true;
    options.model.client.link.bits_per_s = 10e9;
    options.model.network.port_bits_per_s = 1e9;
    const auto seconds_for = [&](bool flow_control) {
        options.model.network.flow_control = flow_control;
        options.model.network.port_buffer_bytes = kMiB;
        options.model.network.retransmit_after = milliseconds(200);
        SimRun run(options);
        const FileId file = run.open("a.mov");
        for (int i = 0; i < 100; ++i) run.read(file, 0, kMiB);
        run.loop.run();
        for (const ReadOp& op : run.reads) EXPECT_EQ(op.bytes, kMiB);
        const PartStats port = part(run.stats(), "seat 0 switch port");
        EXPECT_EQ(port.bytes, 100 * kMiB) << "each byte goes through once";
        EXPECT_EQ(port.lost > 0, !flow_control);
        return static_cast<double>(run.loop.now().ns) * 1e-9;
    };
    EXPECT_NEAR(seconds_for(true), 0.84, 0.001);
    EXPECT_GT(seconds_for(false), 3) << "a buffer of one read, and a timeout for each of the others";
}

TEST(Cluster, AFileHasItsCoordinator) {
    sim::ClusterOptions options = plain();
    options.warm = true;
    options.model.nodes = 4;
    options.model.file_bytes_per_s = 1e9;
    options.seats = {{0, {}}, {1, {}}, {2, {}}, {3, {}}};
    SimRun run(options);
    const FileId one = run.open("a.mov");
    const FileId other = run.open("b.mov");
    for (std::uint32_t i = 0; i < 40; ++i) run.read(one, 0, kMiB, {.seat = i % 4});
    for (std::uint32_t i = 0; i < 8; ++i) run.read(other, 0, kMiB, {.seat = i % 4});
    run.loop.run();
    EXPECT_EQ(run.loop.now(), Instant{} + nanoseconds(40 * kBlockNs));
    EXPECT_EQ(run.reads[47].completed_at, Instant{} + nanoseconds(8 * kBlockNs));
}

TEST(Cluster, EachFileOfASequenceHasTheRateOfOneFile) {
    sim::ClusterOptions options = plain();
    options.warm = true;
    options.model.file_bytes_per_s = 1e9;
    const auto media = std::make_shared<PlainMedia>("a", 2, 3 * kMiB, true);
    options.media.emplace_back(media);
    SimRun run(options);
    const FileId files[] = {run.open(media->path(0)), run.open(media->path(1))};
    for (std::uint64_t i = 0; i < 6; ++i) run.read(files[i % 2], i / 2 * kMiB, kMiB);
    run.loop.run();
    EXPECT_EQ(run.reads[1].completed_at, Instant{} + nanoseconds(kBlockNs)) << "one beside the other";
    EXPECT_EQ(run.loop.now(), Instant{} + nanoseconds(3 * kBlockNs));
    const PartStats all = part(run.stats(), "sequence files");
    EXPECT_EQ(all.servers, 2u) << "files at once";
    EXPECT_EQ(all.busy_ns, 6 * kBlockNs) << "both are always at their rate";
    EXPECT_EQ(all.longest_queue, 6u);
    for (std::uint64_t i = 0; i < 6; ++i) {
        run.read(files[i % 2], i / 2 * kMiB, kMiB);
        run.loop.run();
    }
    EXPECT_EQ(part(run.stats(), "sequence files").busy_ns, 12 * kBlockNs) << "half of the servers later";
}

TEST(Cluster, ADecoderTakesItsTurnOnTheProcessorOfItsSeat) {
    sim::ClusterOptions options = plain();
    options.model.client.cores = 4;
    options.model.client.cpu_ceiling = 0.5;
    options.model.client.decode = {{"dpx", 12, 0.001, 0}, {"dpx", 0, 0, 1e-9}, {"", 0, 0.010, 0}};
    SimRun run(options);
    MediaFormat format;
    format.codec = "dpx";
    format.dpx.bits = 10;
    format.width = 4000;
    format.height = 1000;
    const auto ten_bit = run.cluster.make_decoder(0, &format, {});
    format.dpx.bits = 12;
    const auto twelve_bit = run.cluster.make_decoder(0, &format, {});
    format.codec = "prores";
    const auto other = run.cluster.make_decoder(0, &format, milliseconds(2));
    std::deque<DecodeOp> ops(5);
    for (DecodeOp& op : ops) op.done = {[](void*) {}, nullptr};
    for (std::size_t i = 0; i < 3; ++i) ten_bit->decode(ops[i]);
    twelve_bit->decode(ops[3]);
    other->decode(ops[4]);
    EXPECT_EQ(ops[0].completed_at, Instant{}) << "not inside the call";
    run.loop.run();
    const auto ms = [&](std::size_t op) { return static_cast<double>(ops[op].completed_at.ns) * 1e-6; };
    EXPECT_DOUBLE_EQ(ms(0), 2);
    EXPECT_DOUBLE_EQ(ms(1), 4) << "in line before the others came";
    EXPECT_DOUBLE_EQ(ms(3), 4.5);
    EXPECT_DOUBLE_EQ(ms(4), 10.5);
    EXPECT_DOUBLE_EQ(ms(2), 12.5);
}

TEST(Cluster, ACancelledReadComesBackAtOnce) {
    SimRun run(plain());
    const FileId file = run.open("a.mov");
    ReadOp& first = run.read(file, 0, kMiB);
    ReadOp& second = run.read(file, kMiB, kMiB);
    run.storage->cancel(second);
    bool closed = false;
    run.storage->shutdown({[](void* flag) { *static_cast<bool*>(flag) = true; }, &closed});
    EXPECT_EQ(second.error, ECANCELED);
    run.loop.run();
    EXPECT_TRUE(closed);
    EXPECT_EQ(first.error, 0);
    EXPECT_EQ(second.completed_at, Instant{});
    EXPECT_EQ(run.loop.now().ns, 2 * kBlockNs) << "the drive reads it all the same";
}

TEST(Cluster, ACompletionIsSettledBeforeATimerOfTheSameInstant) {
    SimRun run(plain());
    const FileId file = run.open("a.mov");
    struct Watch {
        bool done = false;
        bool done_at_timer = false;
        void set() { done = true; }
        void look() { done_at_timer = done; }
    } watch;
    run.loop.at(Instant{kBlockNs}, Callback::of<&Watch::look>(&watch));
    run.read(file, 0, kMiB).done = Callback::of<&Watch::set>(&watch);
    run.loop.run();
    EXPECT_TRUE(watch.done_at_timer);
}

}  // namespace
}  // namespace streamsim::test
