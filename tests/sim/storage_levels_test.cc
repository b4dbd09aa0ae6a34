// The parts of the hardware that rates leave out: stripe units, two levels of RAM, the cost of a frame,
// connections, the path to the display. Each against arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/parts/seat.h"
#include "sim/sim_fixture.h"
#include "sim/theatre.h"

namespace streamsim::test {
namespace {

using sim::AccessStrategy;

/// Requests of all drives, and the most of one.
struct DriveUse {
    std::uint64_t requests = 0, bytes = 0, most = 0;
};

DriveUse drives(SimRun& run) {
    DriveUse use;
    for (const PartStats& each : run.stats()) {
        if (each.kind != PartKind::drive) continue;
        use.requests += each.requests;
        use.bytes += each.bytes;
        use.most = std::max(use.most, each.requests);
    }
    return use;
}

sim::ClusterOptions striped(AccessStrategy strategy) {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.node.drives = 16;
    options.model.stripe_bytes = kMiB / 8;
    options.model.data_drives = 4;
    options.model.strategy = {2 * kMiB, 16 * kMiB, 2};
    options.strategy = strategy;
    return options;
}

TEST(StripeUnits, ABlockWithoutReadAheadComesFromAsManyDrives) {
    SimRun run(striped(AccessStrategy::random));
    const FileId file = run.open("a.mov");
    EXPECT_NEAR(static_cast<double>(run.time_of_read(file, 0, kMiB).ns), kBlockNs / 8.0, 2)
        << "eight drives at once";
    const DriveUse use = drives(run);
    EXPECT_EQ(use.requests, 8U);
    EXPECT_EQ(use.bytes, kMiB);
    EXPECT_EQ(use.most, 1U);
}

TEST(StripeUnits, ReadingFarAheadAsksADriveForAWholeBlock) {
    SimRun run(striped(AccessStrategy::streaming));
    const FileId file = run.open("a.mov");
    run.time_of_read(file, 0, kMiB);  // eight, for nobody foresaw it; 16 more blocks ahead of it
    EXPECT_EQ(drives(run).requests, 8U + 16U);
    run.time_of_read(file, kMiB, kMiB);
    EXPECT_EQ(drives(run).requests, 8U + 17U);
}

TEST(StripeUnits, ReadingALittleAheadAsksForShortRuns) {
    SimRun run(striped(AccessStrategy::concurrency));  // 2 MiB ahead over 4 drives: 512 KiB of each
    const FileId file = run.open("a.mov");
    run.time_of_read(file, 0, kMiB);
    EXPECT_EQ(drives(run).requests, 8U + 2 * 2U);
}

TEST(StripeUnits, NamesThatAreFollowedComeInWholeBlocks) {
    sim::ClusterOptions options = striped(AccessStrategy::as_media);
    const auto media = std::make_shared<PlainMedia>("a", 10, 8 * kMiB, true);
    options.media.emplace_back(media);
    SimRun run(options);
    run.time_of_read(run.open(media->path(0)), 0, 8 * kMiB);
    const std::uint64_t first = drives(run).requests;
    run.time_of_read(run.open(media->path(1)), 0, 8 * kMiB);
    // File 1 takes eight units for each block; files 2 and 3 are foreseen, 8 blocks each.
    EXPECT_EQ(drives(run).requests, first + 64 + 16);
    run.time_of_read(run.open(media->path(2)), 0, 8 * kMiB);
    EXPECT_EQ(drives(run).requests, first + 64 + 24) << "file 4";
}

TEST(StripeUnits, OfADeadDriveIsRebuiltFromTheOthersOfItsGroup) {
    sim::ClusterOptions options = striped(AccessStrategy::random);
    SimRun whole(options);
    whole.time_of_read(whole.open("a.mov"), 0, kMiB);
    std::uint32_t used = 0;
    for (const PartStats& each : whole.stats()) {
        if (each.kind == PartKind::drive && each.requests > 0) break;
        if (each.kind == PartKind::drive) ++used;
    }
    SimRun run(options);
    run.cluster.at(Instant{}, {.kind = sim::ClusterFault::Kind::drive_dies, .node = 0, .drive = used});
    const FileId file = run.open("a.mov");
    run.time_of_read(file, 0, kMiB);
    EXPECT_EQ(drives(run).requests, 7U + 4U);
    EXPECT_EQ(drives(run).bytes, 7 * kMiB / 8 + 4 * kMiB / 8);
}

/// The drive of node 0 that two blocks which are read at once ask twice.
std::uint32_t drive_with_a_queue(const sim::ClusterOptions& options) {
    SimRun run(options);
    const FileId file = run.open("a.mov");
    for (std::uint64_t block = 0; block < 2; ++block) run.read(file, block * kMiB, kMiB);
    run.loop.run();
    for (std::uint32_t drive = 0; drive < options.model.node.drives; ++drive) {
        if (part(run.stats(), fmt::format("node 0 drive {}", drive)).requests == 2) return drive;
    }
    ADD_FAILURE() << "no drive was asked twice";
    return 0;
}

TEST(StripeUnits, ThatWaitForADriveThatDiesAreRebuiltFromTheOthersOfTheirGroup) {
    sim::ClusterOptions options = striped(AccessStrategy::random);
    const std::uint32_t dies = drive_with_a_queue(options);
    for (const std::uint32_t data_drives : {1U, 4U, 15U, 16U}) {
        options.model.data_drives = data_drives;
        SimRun run(options);
        const FileId file = run.open("a.mov");
        for (std::uint64_t block = 0; block < 2; ++block) run.read(file, block * kMiB, kMiB);
        run.cluster.at(Instant{kBlockNs / 16},
                       {.kind = sim::ClusterFault::Kind::drive_dies, .node = 0, .drive = dies});
        run.loop.run();
        const bool lost = data_drives == 16;  // 15 are left
        const std::uint64_t rebuilding = lost ? 0 : data_drives;
        EXPECT_EQ(drives(run).requests, 15U + rebuilding) << data_drives;
        EXPECT_EQ(drives(run).bytes, (15 + rebuilding) * kMiB / 8) << data_drives;
        EXPECT_EQ(run.reads[0].error, 0) << data_drives;
        EXPECT_EQ(run.reads[1].error, lost ? EIO : 0) << data_drives;
    }
}

TEST(StripeUnits, OfTheOnlyDriveThatDiesAreAnError) {
    for (const std::uint32_t data_drives : {1U, 2U}) {
        sim::ClusterOptions options = striped(AccessStrategy::random);
        options.model.node.drives = 1;
        options.model.data_drives = data_drives;
        SimRun run(options);
        const FileId file = run.open("a.mov");
        run.cluster.at(run.loop.now(), {.kind = sim::ClusterFault::Kind::drive_dies, .node = 0, .drive = 0});
        run.loop.run();
        const ReadOp& lost = run.read(file, 0, kMiB);
        run.loop.run();
        EXPECT_EQ(lost.error, EIO);
    }
}

TEST(MediaStrategy, IsThatOfTheFolderUnlessThePlaceHasOne) {
    for (const auto place : {AccessStrategy::as_media, AccessStrategy::random}) {
        sim::ClusterOptions options = striped(place);
        const auto media = std::make_shared<PlainMedia>("a", 64, kMiB, false);
        options.media.emplace_back(media, AccessStrategy::concurrency);
        SimRun run(options);
        run.time_of_read(run.open(media->path(0)), 0, kMiB);
        EXPECT_EQ(drives(run).requests, place == AccessStrategy::random ? 8U : 12U);
    }
}

// ---- levels of RAM

sim::ClusterOptions two_nodes() {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.nodes = 2;
    options.model.node.back_end = {8e9, 1, microseconds(3)};
    options.model.node.l2_bytes = 4 * kMiB;
    options.strategy = AccessStrategy::random;
    options.seats = {{0, {}}, {1, {}}};
    return options;
}

const PartStats& level(const std::vector<PartStats>& stats, int node, const char* name) {
    return part(stats, fmt::format("node {} {}", node, name));
}

TEST(Levels, AWarmL2HoldsAllMediaOrWhatThereIsRoomFor) {
    const auto from_drives = [](std::uint64_t media_blocks, std::uint32_t nodes) {
        sim::ClusterOptions options;
        options.model = plain_model();
        options.model.nodes = nodes;
        options.model.node.back_end = {80e9, 1, {}};
        options.model.node.ram_bytes = kMiB;
        options.model.node.l2_bytes = 64 * kMiB;
        options.warm = true;
        options.media.emplace_back(std::make_shared<PlainMedia>("a", media_blocks, kMiB, false));
        SimRun run(options);
        run.cluster.add_file("other.mov", 512 * kMiB);
        const FileId other = run.open("other.mov");
        for (std::uint64_t i = 0; i < 512; ++i) (void)run.time_of_read(other, i * kMiB, kMiB);
        const std::uint64_t before = drives(run).requests;
        const FileId file = run.open("a.mov");
        for (std::uint64_t i = 0; i < media_blocks; ++i) (void)run.time_of_read(file, i * kMiB, kMiB);
        return drives(run).requests - before;
    };
    EXPECT_EQ(from_drives(40, 1), 0U) << "nothing takes their place";
    EXPECT_EQ(from_drives(100, 4), 0U);
    EXPECT_EQ(from_drives(100, 1), 100U) << "they have no place of their own";
}

TEST(Levels, ABlockIsInTheRamOfItsHomeForSeatsOfAllNodes) {
    SimRun run(two_nodes());
    const FileId first = run.open("a.mov", 0);
    const FileId second = run.open("a.mov", 1);
    for (std::uint64_t block = 0; block < 2; ++block) run.time_of_read(first, block * kMiB, kMiB, {0, 0, 0, 0});
    EXPECT_EQ(drives(run).requests, 2U);
    for (std::uint64_t block = 0; block < 2; ++block)
        run.time_of_read(second, block * kMiB, kMiB, {1, 0, 0, 0});
    EXPECT_EQ(drives(run).requests, 2U) << "the home of each block has it";
    const auto stats = run.stats();
    EXPECT_EQ(level(stats, 0, "L2").hits + level(stats, 1, "L2").hits, 2U);
    EXPECT_EQ(level(stats, 0, "back end").bytes, kMiB) << "one block of each seat is at home on the other node";
    EXPECT_EQ(level(stats, 1, "back end").bytes, kMiB);
}

TEST(Levels, WithoutL2EachNodeReadsForItself) {
    sim::ClusterOptions options = two_nodes();
    options.model.node.l2_bytes = 0;
    SimRun run(options);
    const FileId first = run.open("a.mov", 0);
    const FileId second = run.open("a.mov", 1);
    run.time_of_read(first, 0, kMiB, {0, 0, 0, 0});
    run.time_of_read(second, 0, kMiB, {1, 0, 0, 0});
    EXPECT_EQ(drives(run).requests, 2U);
}

TEST(Levels, TwoNodesThatAskAtOnceMeetAtTheHome) {
    SimRun run(two_nodes());
    const FileId first = run.open("a.mov", 0);
    const FileId second = run.open("a.mov", 1);
    const ReadOp& one = run.read(first, 0, kMiB, {0, 0, 0, 0});
    const ReadOp& other = run.read(second, 0, kMiB, {1, 0, 0, 0});
    run.loop.run();
    EXPECT_EQ(drives(run).requests, 1U);
    EXPECT_EQ(one.bytes, kMiB);
    EXPECT_EQ(other.bytes, kMiB);
}

TEST(Levels, WhatLeavesL2IsOnTheSsdOfItsHome) {
    sim::ClusterOptions options = two_nodes();
    options.model.nodes = 1;
    options.seats = {{0, {}}};
    options.model.node.ram_bytes = kMiB;
    options.model.node.l2_bytes = 2 * kMiB;
    options.model.node.ssd_bytes = 8 * kMiB;
    options.model.node.ssd = {16e9, 1, microseconds(7)};
    SimRun run(options);
    const FileId file = run.open("a.mov");
    for (std::uint64_t block = 0; block < 4; ++block) run.time_of_read(file, block * kMiB, kMiB);
    EXPECT_EQ(drives(run).requests, 4U);
    EXPECT_EQ(run.time_of_read(file, 0, kMiB).ns, kBlockNs / 2 + 7'000) << "2 GB/s and 7 us";
    EXPECT_EQ(run.time_of_read(file, 0, kMiB), Duration{}) << "L1";
    run.time_of_read(file, 3 * kMiB, kMiB);  // L1 has room for one
    EXPECT_EQ(drives(run).requests, 4U);
    EXPECT_EQ(level(run.stats(), 0, "L2").hits, 1U) << "block 3 was the last to come";
}

TEST(Levels, AWarmClusterHasItsMediaAtTheirHomes) {
    sim::ClusterOptions options = two_nodes();
    options.warm = true;
    SimRun run(options);
    const FileId file = run.open("a.mov", 0);
    for (std::uint64_t block = 0; block < 8; ++block) run.time_of_read(file, block * kMiB, kMiB, {0, 0, 0, 0});
    EXPECT_EQ(drives(run).requests, 0U) << "4 MiB on each node";
    EXPECT_EQ(level(run.stats(), 0, "RAM").hits, 0U) << "L1 keeps nothing for long";
}

TEST(Levels, AFlushEmptiesAll) {
    sim::ClusterOptions options = two_nodes();
    options.warm = true;
    SimRun run(options);
    const FileId file = run.open("a.mov", 0);
    run.time_of_read(file, 0, kMiB);
    run.cluster.at(run.loop.now(), {.kind = sim::ClusterFault::Kind::cache_flush});
    run.loop.run();
    run.time_of_read(file, 0, kMiB);
    EXPECT_EQ(drives(run).requests, 1U);
}

TEST(Levels, ABlockOfALostNodeIsRebuiltWhereItIsAskedFor) {
    sim::ClusterOptions options = two_nodes();
    options.model.node.drives = 4;
    options.model.data_drives = 2;
    options.seats = {{0, {}}};
    SimRun run(options);
    run.cluster.at(Instant{}, {.kind = sim::ClusterFault::Kind::node_lost, .node = 1});
    run.loop.run();
    const FileId file = run.open("a.mov");
    for (std::uint64_t block = 0; block < 8; ++block) run.time_of_read(file, block * kMiB, kMiB);
    EXPECT_EQ(drives(run).requests, 4U + 4 * 2U) << "every other block is at home on the lost node";
}

// ---- costs

TEST(FrameCost, IsTakenOnceForEachFrameOfAClip) {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.node.cpu_s_per_frame = 1e-3;
    const auto media = std::make_shared<PlainMedia>("a", 100, 4 * kMiB, false);
    options.media.emplace_back(media);
    SimRun run(options);
    const FileId clip = run.open(media->path(0));
    const auto busy_ms = [&] { return part(run.stats(), "node 0 processor").busy_ns / 1'000'000; };
    for (std::uint64_t piece = 0; piece < 4; ++piece) run.time_of_read(clip, piece * kMiB, kMiB, {0, 0, 0, 0});
    EXPECT_EQ(busy_ms(), 1) << "four reads of one frame";
    run.time_of_read(clip, 4 * kMiB, kMiB, {0, 0, 1, 1});
    EXPECT_EQ(busy_ms(), 2);
    run.time_of_read(clip, 3 * kMiB, kMiB, {0, 0, 0, 0});
    EXPECT_EQ(busy_ms(), 2) << "a late piece of an earlier frame";
    const FileId other = run.open("other.mov");
    run.time_of_read(other, 0, kMiB, {0, 0, 7, 7});
    EXPECT_EQ(busy_ms(), 2) << "no clip of the run";
}

TEST(Messages, AreOnTheLinksBesideTheBytes) {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.network.message_bytes = 1000;
    options.model.node.front_end.bits_per_s = 8e9;
    options.model.client.link.bits_per_s = 8e9;
    SimRun run(options);
    const FileId file = run.open("a.mov");
    run.time_of_read(file, 0, kMiB);
    EXPECT_EQ(run.time_of_read(file, 0, kMiB).ns, 2 * (kBlockNs + 1000));
}

TEST(Connections, OfANodeLimitASeatAndNotTheNode) {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.node.connection_bytes_per_s = 1e9;
    options.model.client.connections = 2;
    options.seats = {{0, {}}, {0, {}}};
    for (const double own : {0.0, 4e9, 0.5e9}) {  // the seat's own rate for a connection
        options.model.client.connection_bytes_per_s = own;
        SimRun run(options);
        std::vector<FileId> files = {run.open("a.mov", 0), run.open("b.mov", 1)};
        for (std::uint32_t seat = 0; seat < 2; ++seat)
            run.time_of_read(files[seat], 0, 8 * kMiB, {seat, 0, 0, 0});
        const Instant begin = run.loop.now();
        for (std::uint64_t block = 0; block < 8; ++block) {
            for (std::uint32_t seat = 0; seat < 2; ++seat)
                run.read(files[seat], block * kMiB, kMiB, {seat, 0, 0, 0});
        }
        run.loop.run();
        const std::int64_t block = own == 0.5e9 ? 2 * kBlockNs : kBlockNs;
        EXPECT_EQ((run.loop.now() - begin).ns, 4 * block) << "two at once of eight, on both seats alike";
    }
}

TEST(Display, IsOnePathForAllStreamsOfASeat) {
    MediaFormat format;
    format.codec = "dpx";
    format.width = 1000;
    format.height = 1000;
    ClientModel client;
    client.display = {{"dpx", 0, 0.001, 1e-9}, {"", 0, 1, 0}};
    EXPECT_EQ(sim::Seat::display_time(client, &format, 1), milliseconds(2));
    EXPECT_EQ(sim::Seat::display_time(client, &format, 3), milliseconds(6));
    EXPECT_EQ(sim::Seat::display_time(client, nullptr, 1), Duration{});

    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.client = client;
    SimRun run(options);
    const auto first = run.cluster.make_decoder(0, &format, {});
    const auto second = run.cluster.make_decoder(0, &format, {});
    DecodeOp one, other, late;
    for (DecodeOp* op : {&one, &other, &late}) op->done = {[](void*) {}, nullptr};
    std::atomic<std::int64_t> later{0};
    late.needed_by = Instant{} + milliseconds(5);
    late.later_ns = &later;
    first->decode(one);
    second->decode(other);
    second->decode(late);
    run.loop.run();
    EXPECT_EQ(one.completed_at, Instant{} + milliseconds(2));
    EXPECT_EQ(other.completed_at, Instant{} + milliseconds(4));
    EXPECT_TRUE(late.skipped) << "it would be complete after 6 ms";
    EXPECT_EQ(part(run.stats(), "seat 0 display").busy_ns, 4'000'000);
}

}  // namespace
}  // namespace streamsim::test
