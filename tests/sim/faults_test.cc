// Each fault of a cluster: what it must do, worked out beforehand.
#include <fmt/format.h>

#include <cerrno>

#include "base/prng.h"
#include "sim/sim_fixture.h"

namespace streamsim::test {
namespace {

using Kind = sim::ClusterFault::Kind;

sim::ClusterOptions four_nodes() {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.nodes = 4;
    options.model.node.drives = 2;
    options.model.node.ram_bytes = 0;
    options.model.data_drives = 3;
    options.seats = {{0, {}}, {1, {}}, {2, {}}, {3, {}}};
    return options;
}

std::uint64_t requests_of(const std::vector<PartStats>& stats, PartKind kind) {
    std::uint64_t requests = 0;
    for (const PartStats& each : stats) {
        if (each.kind == kind) requests += each.requests;
    }
    return requests;
}

TEST(ClusterFaults, ABlockOfADeadDriveIsReadFromTheOthersOfItsGroup) {
    SimRun run(four_nodes());
    run.cluster.at(Instant{}, {.kind = Kind::drive_dies, .node = 1, .drive = 1});
    const FileId file = run.open("a.mov");
    for (std::uint64_t block = 0; block < 80; ++block) run.read(file, block * kMiB, kMiB);
    run.loop.run();
    const auto stats = run.stats();
    EXPECT_EQ(part(stats, "node 1 drive 1").requests, 0u);
    EXPECT_EQ(requests_of(stats, PartKind::drive), 70u + 10 * 3);
    for (const ReadOp& op : run.reads) EXPECT_EQ(op.error, 0);
}

TEST(ClusterFaults, WhatWaitsForADriveThatDiesIsReadElsewhere) {
    SimRun run(four_nodes());
    const FileId file = run.open("a.mov");
    for (std::uint64_t block = 0; block < 80; ++block) run.read(file, block * kMiB, kMiB);
    run.cluster.at(Instant{kBlockNs / 2}, {.kind = Kind::drive_dies, .node = 1, .drive = 1});
    run.loop.run();
    const auto stats = run.stats();
    EXPECT_EQ(part(stats, "node 1 drive 1").requests, 1u) << "it still gives what it was reading";
    EXPECT_EQ(requests_of(stats, PartKind::drive), 71u + 9 * 3);
    for (const ReadOp& op : run.reads) EXPECT_EQ(op.error, 0);
}

TEST(ClusterFaults, WithoutEnoughDrivesABlockIsLost) {
    sim::ClusterOptions options = four_nodes();
    options.model.data_drives = 8;
    SimRun run(options);
    run.cluster.at(Instant{}, {.kind = Kind::drive_dies, .node = 0, .drive = 0});
    const FileId file = run.open("a.mov");
    for (std::uint64_t block = 0; block < 8; ++block) run.read(file, block * kMiB, kMiB);
    run.loop.run();
    int failed = 0;
    for (const ReadOp& op : run.reads) {
        if (op.error == 0) continue;
        ++failed;
        EXPECT_EQ(op.error, EIO);
        EXPECT_EQ(op.bytes, 0u);
    }
    EXPECT_EQ(failed, 1);
}

TEST(ClusterFaults, TheSeatsOfALostNodeGoOnAtTheOthers) {
    SimRun run(four_nodes());
    const FileId file = run.open("a.mov");
    for (std::uint64_t block = 0; block < 80; ++block) {
        run.read(file, block * kMiB, kMiB, {.seat = static_cast<std::uint32_t>(block % 4)});
    }
    run.cluster.at(Instant{kBlockNs * 2 + 10}, {.kind = Kind::node_lost, .node = 2, .length = seconds(3)});
    run.loop.run();
    for (const ReadOp& op : run.reads) {
        EXPECT_EQ(op.error, 0);
        EXPECT_EQ(op.bytes, kMiB);
        const bool had_answer = op.completed_at.ns <= kBlockNs * 2 + 10;
        EXPECT_EQ(op.completed_at >= Instant{} + seconds(3), op.tag.seat == 2 && !had_answer)
            << "they wait to be taken over; the others do not";
    }
    const std::uint64_t before = part(run.stats(), "node 3 front end").requests;
    run.time_of_read(file, 0, kMiB, {.seat = 2});
    EXPECT_EQ(part(run.stats(), "node 3 front end").requests, before + 1) << "the next node has it";
}

/// Reads a block later.
struct LaterRead {
    SimRun* run;
    FileId file;
    std::uint32_t seat;
    ReadOp* op = nullptr;
    void go() { op = &run->read(file, 0, kMiB, {.seat = seat}); }
};

TEST(ClusterFaults, TheLossOfASecondNodeDoesNotEndTheWaitForTheFirst) {
    SimRun run(four_nodes());
    const FileId file = run.open("a.mov");
    run.cluster.at(Instant{} + seconds(1), {.kind = Kind::node_lost, .node = 0, .length = seconds(30)});
    run.cluster.at(Instant{} + seconds(2), {.kind = Kind::node_lost, .node = 1});
    LaterRead moved_twice{&run, file, 0};
    LaterRead moved_once{&run, file, 1};
    for (LaterRead* read : {&moved_twice, &moved_once})
        run.loop.at(Instant{} + seconds(3), Callback::of<&LaterRead::go>(read));
    run.loop.run();
    EXPECT_EQ(moved_twice.op->error, 0);
    EXPECT_GE(moved_twice.op->completed_at, Instant{} + seconds(31));
    EXPECT_EQ(moved_once.op->error, 0);
    EXPECT_LT(moved_once.op->completed_at, Instant{} + seconds(4));
}

TEST(ClusterFaults, TheNextNodeHasOfAFileTheShareThatItsCacheHasRoomFor) {
    sim::ClusterOptions options = four_nodes();
    options.model.nodes = 2;
    options.model.data_drives = 1;
    options.model.node.ram_bytes = 64 * kMiB;
    options.model.page_bytes = 8 << 10;
    options.seats = {{0, {}}};
    options.warm = true;
    SimRun run(options);
    run.cluster.add_file("a", 128 * kMiB);
    const FileId file = run.open("a");
    run.cluster.at(run.loop.now(), {.kind = Kind::node_lost, .node = 0});
    run.loop.run();
    constexpr std::uint64_t kReads = 4000;
    Prng prng(1);
    for (std::uint64_t i = 0; i < kReads; ++i)
        run.time_of_read(file, prng.below(128 * kMiB / 8192) * 8192 + 4096, 4096);
    EXPECT_EQ(part(run.stats(), "node 0 RAM").hits, 0u);
    EXPECT_NEAR(static_cast<double>(part(run.stats(), "node 1 RAM").hits), kReads / 2.0, 100);
}

TEST(ClusterFaults, WithoutANodeReadsFail) {
    SimRun run(four_nodes());
    const FileId file = run.open("a.mov");
    for (std::uint32_t i = 0; i < 4; ++i) {
        run.cluster.at(run.loop.now(), {.kind = Kind::node_lost, .node = i, .length = seconds(1)});
    }
    run.loop.run();
    const ReadOp& op = run.read(file, 0, kMiB);
    run.loop.run();
    EXPECT_EQ(op.error, EIO);
}

TEST(ClusterFaults, NoDriveOfALostNodeBeginsAnything) {
    sim::ClusterOptions options = four_nodes();
    options.model.data_drives = 5;  // around the ring they come to the node's other drive, which is idle
    const auto requests = [](SimRun& run, std::uint32_t node) {
        return part(run.stats(), fmt::format("node {} drive 0", node)).requests +
               part(run.stats(), fmt::format("node {} drive 1", node)).requests;
    };
    std::uint64_t first = 0;  // of the blocks that lie on the drive 0 of node 0
    for (;; ++first) {
        SimRun probe(options);
        probe.time_of_read(probe.open("a.mov"), first * kMiB, kMiB);
        if (part(probe.stats(), "node 0 drive 0").requests > 0) break;
        ASSERT_LT(first, 8U);
    }
    SimRun run(options);
    const FileId file = run.open("a.mov", 1);
    for (std::uint64_t i = 0; i < 20; ++i) run.read(file, (first + i * 8) * kMiB, kMiB, {.seat = 1});
    run.cluster.at(Instant{kBlockNs / 2}, {.kind = Kind::node_lost, .node = 0, .length = seconds(1)});
    run.loop.run();
    EXPECT_EQ(requests(run, 0), 1U) << "what was being read";
    for (const ReadOp& op : run.reads) EXPECT_EQ(op.error, 0);
}

TEST(ClusterFaults, ALinkDropsToATenthForAWhile) {
    sim::ClusterOptions options = four_nodes();
    options.warm = true;
    options.model.node.ram_bytes = 4 * kMiB;
    options.model.node.front_end.bits_per_s = 8e9;
    options.model.client.link.bits_per_s = 8e9;
    SimRun run(options);
    const FileId file = run.open("a.mov");
    const auto ns = [&] { return run.time_of_read(file, 0, kMiB).ns; };
    EXPECT_EQ(ns(), 2 * kBlockNs);
    const Instant now = run.loop.now();
    run.cluster.at(now, {.kind = Kind::link_slows, .node = 0, .factor = 0.1, .length = milliseconds(1)});
    ReadOp& slow = run.read(file, 0, kMiB);
    run.loop.run();
    EXPECT_EQ((slow.completed_at - slow.submitted_at).ns, 11 * kBlockNs);
    EXPECT_EQ(ns(), 2 * kBlockNs) << "it is over";
    run.cluster.at(run.loop.now(), {.kind = Kind::link_slows, .seat = 0, .factor = 0.1});
    EXPECT_EQ(ns(), 11 * kBlockNs);
    EXPECT_EQ(ns(), 11 * kBlockNs) << "for good";
    EXPECT_EQ(run.time_of_read(file, 0, kMiB, {.seat = 1}).ns, 2 * kBlockNs) << "the others' are their own";
}

TEST(ClusterFaults, OfSeveralThatSlowOneLinkTheStrongestCountsAndEachEndsByItself) {
    sim::ClusterOptions options = four_nodes();
    options.warm = true;
    options.model.node.ram_bytes = 4 * kMiB;
    options.model.client.link.bits_per_s = 8e9;
    SimRun run(options);
    const FileId file = run.open("a.mov");
    const auto slow = [&run](std::int64_t from_ms, double factor, std::int64_t ms) {
        run.cluster.at(Instant{} + milliseconds(from_ms),
                       {.kind = Kind::link_slows, .seat = 0, .factor = factor, .length = milliseconds(ms)});
    };
    slow(100, 0.1, 200);  // to 300
    slow(200, 0.5, 200);  // to 400, of which 100 within the first
    slow(500, 0.1, 100);  // to 600
    slow(600, 0.1, 100);  // and on from there
    slow(800, 0.5, 0);    // for good
    slow(900, 0.1, 100);  // to 1000
    struct Ask {
        SimRun* run;
        FileId file;
        std::int64_t at_ms;
        std::int64_t blocks;  // that it takes as long as
        ReadOp* op = nullptr;
        void go() { op = &run->read(file, 0, kMiB); }
    };
    std::vector<Ask> asks;
    for (const auto& [at_ms, blocks] : {std::pair{10, 1},
                                        {110, 10},
                                        {250, 10},
                                        {350, 2},
                                        {450, 1},
                                        {550, 10},
                                        {650, 10},
                                        {750, 1},
                                        {850, 2},
                                        {950, 10},
                                        {1050, 2}})
        asks.push_back({&run, file, at_ms, blocks});
    for (Ask& ask : asks) run.loop.at(Instant{} + milliseconds(ask.at_ms), Callback::of<&Ask::go>(&ask));
    run.loop.run();
    for (const Ask& ask : asks) {
        EXPECT_EQ((ask.op->completed_at - ask.op->submitted_at).ns, ask.blocks * kBlockNs) << ask.at_ms;
    }
}

TEST(ClusterFaults, AFlushedCacheIsEmpty) {
    sim::ClusterOptions options = four_nodes();
    options.model.node.ram_bytes = 4 * kMiB;
    SimRun run(options);
    const FileId file = run.open("a.mov");
    run.time_of_read(file, 0, kMiB);
    EXPECT_EQ(run.time_of_read(file, 0, kMiB).ns, 0);
    run.cluster.at(run.loop.now(), {.kind = Kind::cache_flush});
    run.loop.run();
    EXPECT_EQ(run.time_of_read(file, 0, kMiB).ns, kBlockNs);
}

TEST(ClusterFaults, APausedNodeAnswersAfterwards) {
    sim::ClusterOptions options = four_nodes();
    options.warm = true;
    options.model.node.ram_bytes = 4 * kMiB;
    SimRun run(options);
    const FileId file = run.open("a.mov");
    run.cluster.at(Instant{}, {.kind = Kind::pause, .node = 1, .length = milliseconds(500)});
    run.loop.run();
    const Instant over = Instant{} + milliseconds(500);
    run.cluster.at(over, {.kind = Kind::pause, .node = 1, .length = milliseconds(500)});
    ReadOp& here = run.read(file, 0, kMiB, {.seat = 1});
    ReadOp& there = run.read(file, 0, kMiB, {.seat = 0});
    run.loop.run();
    EXPECT_EQ(there.completed_at, there.submitted_at);
    EXPECT_EQ(here.completed_at, over + milliseconds(500));
}

}  // namespace
}  // namespace streamsim::test
