// Operations that change files and names in a modelled cluster, and small random reads, on times that can be
// worked out by hand.
#include <gmock/gmock.h>

#include <cerrno>

#include "base/prng.h"
#include "sim/sim_fixture.h"

namespace streamsim::test {
namespace {

sim::ClusterOptions with_journal() {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.node.journal.bytes = 1024 * kMiB;
    return options;
}

/// A SimRun that writes.
class WriteRun : public SimRun {
public:
    using SimRun::SimRun;

    FileId create(const std::string& path, Access access = Access::create, int error = 0) {
        OpenOp op;
        op.done = {[](void*) {}, nullptr};
        op.path = path.c_str();
        op.access = access;
        storage->open(op);
        loop.run();
        EXPECT_EQ(op.error, error) << path;
        return op.file;
    }

    WriteOp& write(FileId file, std::uint64_t offset, std::uint64_t bytes, IoTag tag = {}) {
        WriteOp& op = writes.emplace_back();
        op.done = {[](void*) {}, nullptr};
        op.file = file;
        op.offset = offset;
        op.buffer = {static_cast<const std::byte*>(nullptr), bytes};
        op.tag = tag;
        storage->write(op);
        return op;
    }

    Duration time_of_write(FileId file, std::uint64_t offset, std::uint64_t bytes) {
        WriteOp& op = write(file, offset, bytes);
        loop.run();
        EXPECT_EQ(op.error, 0);
        EXPECT_EQ(op.bytes, bytes);
        return op.completed_at - op.submitted_at;
    }

    PathOp name(PathOp::Kind kind, const std::string& path, const std::string& to = "") {
        PathOp op;
        op.done = {[](void*) {}, nullptr};
        op.kind = kind;
        op.path = path.c_str();
        op.to = to.c_str();
        storage->perform(op);
        loop.run();
        return op;
    }

    std::deque<WriteOp> writes;
};

TEST(Writes, TakeWhatTheirPartsTake) {
    sim::ClusterOptions options = with_journal();
    ClusterModel& model = options.model;
    model.client.cpu_s_per_request = 1e-6;
    model.client.cpu_s_per_byte = 0x1p-30;
    model.client.link = {8e9, 1, microseconds(10)};
    model.node.front_end = {80e9, 0.5, microseconds(5)};
    model.node.cpu_s_per_write = 3e-6;
    model.node.write_cpu_s_per_byte = 0x1p-31;
    model.node.response.median = microseconds(50);
    model.node.journal.bytes_per_s = 2e9;
    model.node.journal.latency = microseconds(20);
    model.file_write_bytes_per_s = 4e9;
    WriteRun run(options);
    const FileId file = run.create("a");
    const Duration out = microseconds(1) + nanoseconds(976'563 + kBlockNs) + microseconds(10 + 5 + 50);
    const Duration node = nanoseconds((kBlockNs + 4) / 5) + microseconds(3) + nanoseconds(488'282) +
                          nanoseconds(kBlockNs / 4 + kBlockNs / 2) + microseconds(20);
    EXPECT_EQ(run.time_of_write(file, 0, kMiB), out + node + microseconds(15));
    EXPECT_EQ(part(run.stats(), "seat 0 link out").bytes, kMiB);
    EXPECT_EQ(part(run.stats(), "node 0 front end in").bytes, kMiB);
    EXPECT_EQ(part(run.stats(), "node 0 journal").bytes, kMiB + (8 << 10)) << "and that it was created";
    SyncOp sync;
    sync.done = {[](void*) {}, nullptr};
    sync.file = file;
    run.storage->sync(sync);
    run.loop.run();
    EXPECT_EQ(sync.completed_at - sync.submitted_at, microseconds(1 + 10 + 5 + 50 + 20 + 15));
}

TEST(Writes, WhatWasWrittenIsThereToBeRead) {
    WriteRun run(with_journal());
    const FileId file = run.create("a");
    run.time_of_write(file, 0, 3 * kMiB / 2);
    ReadOp& op = run.read(file, kMiB, kMiB);
    run.loop.run();
    EXPECT_EQ(op.bytes, kMiB / 2) << "up to the end of the file";
    EXPECT_EQ(op.completed_at, op.submitted_at) << "from the RAM";
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").bytes, 0u) << "what is written is not among what is read";
}

TEST(Writes, OfAPartOfABlockLeaveTheRestOnTheDrives) {
    WriteRun run(with_journal());
    run.cluster.add_file("a", 100 * kMiB + kMiB / 2);
    const FileId file = run.open("a");
    const auto time_of_block = [&](std::uint64_t block) { return run.time_of_read(file, block * kMiB, kMiB); };
    run.time_of_write(file, 10 * kMiB, 4096);
    EXPECT_EQ(time_of_block(10).ns, kBlockNs);
    run.time_of_write(file, 10 * kMiB + 8192, 4096);
    EXPECT_EQ(time_of_block(10), Duration{}) << "it was in the RAM";
    run.time_of_write(file, 20 * kMiB, kMiB);
    EXPECT_EQ(time_of_block(20), Duration{}) << "it was written whole";
    run.time_of_write(file, 100 * kMiB + 4096, kMiB / 2);
    EXPECT_GT(time_of_block(100), Duration{}) << "not its beginning, though up to the new end";
    run.time_of_write(file, 101 * kMiB, 4096);
    EXPECT_EQ(time_of_block(101), Duration{}) << "the file ended before";
}

TEST(Writes, OfTheLastBlockUpToTheEndKeepItInTheRam) {
    WriteRun run(with_journal());
    run.cluster.add_file("a", 100 * kMiB + kMiB / 2);
    const FileId file = run.open("a");
    run.time_of_write(file, 100 * kMiB, kMiB / 2);
    EXPECT_EQ(run.time_of_read(file, 100 * kMiB, kMiB), Duration{});
}

TEST(Writes, OfAPartOfAPageLeaveTheRestOnTheDrives) {
    sim::ClusterOptions options = with_journal();
    options.model.page_bytes = 8 << 10;
    WriteRun run(options);
    run.cluster.add_file("a", 1024 * kMiB);
    const FileId file = run.open("a");
    run.time_of_write(file, 100 * kMiB, 4096);
    EXPECT_EQ(run.time_of_read(file, 100 * kMiB, 4096).ns, 8192) << "the page";
    run.time_of_write(file, 200 * kMiB, 8192);
    EXPECT_EQ(run.time_of_read(file, 200 * kMiB, 4096), Duration{}) << "it was written whole";
}

TEST(Writes, OneThatFindsTheJournalFullWaitsForTheDrivesWithTheirProtection) {
    sim::ClusterOptions options = with_journal();
    options.model.node.journal.bytes = 8 * kMiB;
    options.model.node.drives = 4;
    options.model.data_drives = 2;
    options.model.protection_drives = 1;
    WriteRun run(options);
    const FileId file = run.create("a");
    for (std::uint64_t i = 0; i < 208; ++i) run.write(file, i * kMiB, kMiB);
    run.loop.run();
    // 7 are in at once, beside what the create left, and each drive takes 2/3 of a block in the time of one:
    // 200 more take 75.
    const double blocks =
        static_cast<double>(run.writes.back().completed_at.ns) / static_cast<double>(kBlockNs);
    EXPECT_NEAR(blocks, 75, 1.5);
    EXPECT_EQ(run.writes[6].completed_at, Instant{});
    EXPECT_GT(run.writes[8].completed_at, Instant{});
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 52u) << "the drives in turn";
    EXPECT_EQ(part(run.stats(), "node 0 drive 3").requests, 52u);
}

TEST(Writes, FailWhereTheJournalIsFullAndEveryDriveIsDead) {
    sim::ClusterOptions options = with_journal();
    options.model.node.journal.bytes = 8 * kMiB;
    WriteRun run(options);
    const FileId file = run.create("a");
    run.cluster.at(Instant{kBlockNs * 5 / 2},
                   {.kind = sim::ClusterFault::Kind::drive_dies, .node = 0, .drive = 0});
    for (std::uint64_t i = 0; i < 208; ++i) run.write(file, i * kMiB, kMiB);
    run.loop.run();
    EXPECT_EQ(run.writes[6].error, 0) << "it was in the journal before";
    EXPECT_EQ(run.writes.back().error, EIO);
    EXPECT_EQ(run.writes.back().bytes, 0U);
    for (std::uint64_t i = 0; i < 16; ++i) run.write(file, i * kMiB, kMiB);
    run.loop.run();
    EXPECT_EQ(run.writes.back().error, EIO) << "one that comes later";
}

TEST(Writes, AtRandomCostTheDrivesAnAccessEach) {
    for (const bool random : {false, true}) {
        sim::ClusterOptions options = with_journal();
        options.model.page_bytes = 8 << 10;
        options.model.node.journal.bytes = kMiB;
        options.model.node.journal.merge_pages = 4;
        options.model.protection_drives = 1;
        options.model.drive.write_access.median = microseconds(100);
        WriteRun run(options);
        const FileId file = run.create("a");
        for (std::uint64_t i = 0; i < 1280; ++i) {
            run.write(file, (random ? i * 977 % 1280 : i) * (8 << 10), 8 << 10);
            if (i % 8 == 7) run.loop.run();
        }
        run.loop.run();
        const PartStats drive = part(run.stats(), "node 0 drive 0");
        const double each = random ? 2 * (100e3 + 8192) : 2 * 8192 + 100e3 / 128;  // ns
        EXPECT_NEAR(static_cast<double>(drive.busy_ns), each * 1280, each * 1280 * 0.02) << random;
    }
}

TEST(Writes, OfOneWholeBlockGoToADriveAtOnce) {
    sim::ClusterOptions options = with_journal();
    options.media.emplace_back(std::make_shared<PlainMedia>("seq", 2, 2 * kMiB, true));
    WriteRun run(options);
    const FileId file = run.open("seq/f.1001.dpx");
    run.time_of_write(file, 0, kMiB);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").requests, 1u);
}

TEST(Writes, ThatFollowEachOtherDoSoOnEachDisk) {
    sim::ClusterOptions options = with_journal();
    options.model.node.drives = 2;
    DriveModel& drive = options.model.drive;
    drive.kind = DriveModel::Kind::rotational;
    drive.inner_bytes_per_s = drive.outer_bytes_per_s;
    drive.capacity_bytes = 1'000'000 * kMiB;
    drive.seek_track = drive.seek_full = milliseconds(5);
    WriteRun run(options);
    const FileId file = run.create("a");
    const std::int64_t before = part(run.stats(), "node 0 drive 0").busy_ns;
    for (std::uint64_t i = 0; i < 40; ++i) run.time_of_write(file, i * kMiB, kMiB);
    const std::int64_t busy_ns = part(run.stats(), "node 0 drive 0").busy_ns - before;
    EXPECT_LE(busy_ns, 20 * kBlockNs + 5'000'000) << "one seek";
    EXPECT_GE(busy_ns, 20 * kBlockNs);
}

TEST(Writes, LieInThePartOfADiskThatIsFilled) {
    sim::ClusterOptions options = with_journal();
    DriveModel& drive = options.model.drive;
    drive.kind = DriveModel::Kind::rotational;
    drive.inner_bytes_per_s = 0.5e9;
    drive.capacity_bytes = 1000 * kMiB;
    drive.filled = 0.001;
    WriteRun run(options);
    const FileId file = run.create("a");
    for (std::uint64_t i = 0; i < 20; ++i) run.time_of_write(file, i * kMiB, kMiB);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").busy_ns, 20 * kBlockNs)
        << "at the rate of the outermost zone";
}

TEST(Writes, WithoutAJournalAreCompleteWhenTheDrivesHaveThem) {
    sim::ClusterOptions options = with_journal();
    options.model.node.journal = {};
    options.model.protection_drives = 1;
    options.model.drive.write_access.median = microseconds(100);
    WriteRun run(options);
    const FileId file = run.create("a");
    EXPECT_EQ(run.time_of_write(file, 0, kMiB), microseconds(100) + nanoseconds(2 * kBlockNs));
}

TEST(Writes, TakeNothingOfTheLinkFromReads) {
    sim::ClusterOptions options = with_journal();
    options.model.client.link = {8e9, 1, {}};
    options.warm = true;
    WriteRun run(options);
    const FileId read = run.open("a");
    const FileId written = run.create("b");
    const Instant from = run.loop.now();
    for (std::uint64_t i = 0; i < 20; ++i) {
        run.read(read, i * kMiB, kMiB);
        run.write(written, i * kMiB, kMiB);
    }
    run.loop.run();
    EXPECT_EQ(run.reads.back().completed_at, from + nanoseconds(20 * kBlockNs));
    EXPECT_EQ(run.writes.back().completed_at, from + nanoseconds(20 * kBlockNs));
}

TEST(Writes, GoToTheDrivesOfOtherNodesInTurnWithTheReadsOfAnySeat) {
    const auto sum_of_reads = [](std::uint32_t reader) {
        const std::uint32_t writer = 1 - reader;
        sim::ClusterOptions options = with_journal();
        options.model.nodes = 2;
        options.model.node.drives = 8;
        options.model.node.back_end = {8e9, 1, {}};
        options.seats.resize(2);
        options.seats[writer].node = 1;
        WriteRun run(options);
        const FileId read = run.open("a");
        const FileId written = run.open("b");
        for (std::uint64_t i = 0; i < 64; ++i) {
            run.write(written, i * kMiB, kMiB, {.seat = writer});
            run.read(read, i * kMiB, kMiB, {.seat = reader});
        }
        run.loop.run();
        std::int64_t sum = 0;
        for (const ReadOp& op : run.reads) sum += op.completed_at.ns;
        return sum;
    };
    EXPECT_EQ(sum_of_reads(0), sum_of_reads(1));
}

TEST(Writes, OfOneFileGoThroughItsCoordinator) {
    sim::ClusterOptions options = with_journal();
    options.model.file_write_bytes_per_s = 1e9;
    options.seats.resize(4);
    WriteRun run(options);
    const FileId file = run.create("a");
    for (std::uint32_t i = 0; i < 40; ++i) run.write(file, i * kMiB, kMiB, {.seat = i % 4});
    run.loop.run();
    EXPECT_EQ(run.writes.back().completed_at, Instant{} + nanoseconds(40 * kBlockNs));
    EXPECT_EQ(part(run.stats(), "file 0 writes").requests, 40u);
}

TEST(Writes, OfAFileOfASequenceHaveTheRateOfOneFile) {
    sim::ClusterOptions options = with_journal();
    options.model.file_write_bytes_per_s = 1e9;
    options.media.emplace_back(std::make_shared<PlainMedia>("seq", 2, 2 * kMiB, true));
    WriteRun run(options);
    const FileId file = run.open("seq/f.1001.dpx");
    run.write(file, 0, kMiB);
    EXPECT_EQ(run.time_of_write(file, kMiB, kMiB), nanoseconds(2 * kBlockNs));
    EXPECT_EQ(part(run.stats(), "sequence files writes").requests, 2u);
    EXPECT_EQ(run.time_of_read(file, 0, kMiB), Duration{}) << "reads have no limit";
}

TEST(Writes, OutliveALostNodeAndADeadDrive) {
    sim::ClusterOptions options = with_journal();
    options.model.nodes = 3;
    options.model.node.drives = 2;
    options.model.node.back_end = {80e9, 1, {}};
    options.model.node.journal.bytes = 4 * kMiB;
    options.seats = {{0, {}}, {1, {}}};
    WriteRun run(options);
    const FileId file = run.create("a");
    sim::ClusterFault lost;
    lost.kind = sim::ClusterFault::Kind::node_lost;
    lost.node = 0;
    lost.length = milliseconds(5);
    run.cluster.at(Instant{} + milliseconds(6), lost);
    sim::ClusterFault dead;
    dead.kind = sim::ClusterFault::Kind::drive_dies;
    dead.node = 1;
    dead.drive = 1;
    run.cluster.at(Instant{} + milliseconds(3), dead);
    for (std::uint32_t i = 0; i < 200; ++i) run.write(file, i * kMiB, kMiB, {.seat = i % 2});
    run.loop.run();
    for (const WriteOp& op : run.writes) {
        EXPECT_EQ(op.error, 0);
        EXPECT_EQ(op.bytes, kMiB);
    }
}

/// Not at the beginning of a page, so that none is a read of the beginning of the file.
std::uint64_t place_in_page(std::uint64_t page) {
    return page * (8 << 10) + 4096;
}

TEST(SmallReads, AtRandomAskTheDrivesForPages) {
    sim::ClusterOptions options = with_journal();
    options.model.page_bytes = 8 << 10;
    options.model.strategy.streaming_bytes = 8 * kMiB;
    WriteRun run(options);
    run.cluster.add_file("a", 1024 * kMiB);
    const FileId file = run.open("a");
    for (std::uint64_t i = 1; i <= 20; ++i) run.time_of_read(file, i * 37 * kMiB + 4096, 4096);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").bytes, 20u * (8 << 10));
    EXPECT_EQ(run.time_of_read(file, 37 * kMiB, 8 << 10), Duration{}) << "the whole page came";
    EXPECT_GT(run.time_of_read(file, 37 * kMiB + (8 << 10), 4096), Duration{}) << "and no other";
}

TEST(SmallReads, ThatFollowEachOtherAreReadAhead) {
    sim::ClusterOptions options = with_journal();
    options.model.page_bytes = 8 << 10;
    options.model.strategy.streaming_bytes = 8 * kMiB;
    WriteRun run(options);
    run.cluster.add_file("a", 1024 * kMiB);
    const FileId file = run.open("a");
    for (std::uint64_t i = 0; i < 1024; ++i) run.time_of_read(file, 100 * kMiB + i * 4096, 4096);
    const PartStats drive = part(run.stats(), "node 0 drive 0");
    EXPECT_LT(drive.requests, 20u) << "4 MiB, what is read ahead, and a few pages until it is believed";
    EXPECT_GE(drive.bytes, 12 * kMiB);
}

TEST(SmallReads, FindInAWarmCacheTheShareThatThereIsRoomFor) {
    sim::ClusterOptions options = with_journal();  // 64 MiB of RAM
    options.model.page_bytes = 8 << 10;
    options.model.node.ssd_bytes = 128 * kMiB;
    options.warm = true;
    WriteRun run(options);
    run.cluster.add_file("a", 256 * kMiB);
    const FileId file = run.open("a");
    constexpr std::uint64_t kReads = 4000;
    Prng prng(1);
    for (std::uint64_t i = 0; i < kReads; ++i) run.time_of_read(file, place_in_page(prng.below(32768)), 4096);
    const auto stats = run.stats();
    EXPECT_NEAR(static_cast<double>(part(stats, "node 0 RAM").hits), kReads * 0.25, 100);
    EXPECT_NEAR(static_cast<double>(part(stats, "node 0 SSD").hits), kReads * 0.5, 120);
    EXPECT_NEAR(static_cast<double>(part(stats, "node 0 drive 0").requests), kReads * 0.25, 100);
}

TEST(SmallReads, FindNoMoreInAWarmCacheWhenEachPageWasRead) {
    for (const std::uint64_t ssd_mib : {0U, 128U}) {
        sim::ClusterOptions options = with_journal();  // 64 MiB of RAM
        options.model.page_bytes = 8 << 10;
        options.model.node.ssd_bytes = ssd_mib * kMiB;
        options.warm = true;
        WriteRun run(options);
        run.cluster.add_file("a", 256 * kMiB);
        const FileId file = run.open("a");
        constexpr std::uint64_t kPages = 32768;
        Prng prng(1);
        double ram_before = 0;
        double drive_before = 0;
        for (int pass = 0; pass < 2; ++pass) {
            for (std::uint64_t i = 0; i < kPages; ++i)
                run.time_of_read(file, place_in_page(prng.below(kPages)), 4096);
            const auto stats = run.stats();
            const auto ram = static_cast<double>(part(stats, "node 0 RAM").hits);
            const auto drive = static_cast<double>(part(stats, "node 0 drive 0").requests);
            EXPECT_NEAR((ram - ram_before) / kPages, 0.25, 0.02) << pass;
            const double from_drive = (drive - drive_before) / kPages;
            if (ssd_mib == 0) {
                EXPECT_NEAR(from_drive, 0.75, 0.02) << pass;
            } else {  // a page that the SSD gave to the RAM is in both
                EXPECT_GT(from_drive, 0.25) << pass;
                EXPECT_LT(from_drive, 0.4) << pass;
            }
            ram_before = ram;
            drive_before = drive;
        }
    }
}

TEST(SmallReads, FindNothingInAWarmCacheOfAFileWithoutAnEnd) {
    sim::ClusterOptions options = with_journal();
    options.model.page_bytes = 8 << 10;
    options.warm = true;
    WriteRun run(options);
    const FileId file = run.open("a");
    for (std::uint64_t i = 1; i <= 20; ++i) run.time_of_read(file, i * 37 * kMiB + 4096, 4096);
    EXPECT_EQ(part(run.stats(), "node 0 RAM").hits, 0u);
    EXPECT_EQ(part(run.stats(), "node 0 drive 0").bytes, 20u * (8 << 10));
}

TEST(SmallReads, FindInTheRamOfTheHomesAShareThatCountsASharedFileOnce) {
    sim::ClusterOptions options = with_journal();
    options.model.nodes = 2;
    options.model.page_bytes = 8 << 10;
    options.model.node.ram_bytes = 0;
    options.model.node.l2_bytes = 64 * kMiB;
    options.seats = {{0, {}}, {1, {}}};
    options.warm = true;
    WriteRun run(options);
    run.cluster.add_file("a", 128 * kMiB);
    const FileId files[] = {run.open("a", 0), run.open("a", 1)};
    for (std::uint32_t i = 1; i <= 200; ++i)
        run.time_of_read(files[i % 2], place_in_page(i * 7919 % 16384), 4096, {.seat = i % 2});
    const auto stats = run.stats();
    EXPECT_EQ(part(stats, "node 0 L2").hits + part(stats, "node 1 L2").hits, 200u) << "both have room for all";
}

TEST(Names, AreThereUntilTheyAreRemoved) {
    using PathKind = PathOp::Kind;
    WriteRun run(with_journal());
    EXPECT_EQ(run.name(PathKind::make_directory, "d").error, 0);
    EXPECT_EQ(run.name(PathKind::make_directory, "d").error, EEXIST);
    const FileId file = run.create("d/a", Access::create_new);
    run.create("d/a", Access::create_new, EEXIST);
    run.time_of_write(file, 4096, 100);
    EXPECT_EQ(run.name(PathKind::stat, "d/a").bytes, 4196u);
    EXPECT_EQ(run.name(PathKind::list, "d").entries, 1u);
    EXPECT_EQ(run.name(PathKind::remove, "d").error, ENOTEMPTY);
    EXPECT_EQ(run.name(PathKind::rename, "d/a", "d/b").error, 0);
    EXPECT_EQ(run.name(PathKind::stat, "d/a").error, ENOENT);
    EXPECT_EQ(run.name(PathKind::stat, "d/b").bytes, 4196u);
    run.create("d/a", Access::read, ENOENT);
    run.create("d/a");
    EXPECT_EQ(run.name(PathKind::stat, "d/a").bytes, 0u) << "another file";
    EXPECT_EQ(run.name(PathKind::list, "d").entries, 2u);
    EXPECT_EQ(run.name(PathKind::rename, "d/b", "d/a").error, 0);
    EXPECT_EQ(run.name(PathKind::stat, "d/a").bytes, 4196u) << "in the place of the other";
    EXPECT_EQ(run.name(PathKind::list, "d").entries, 1u);
    EXPECT_EQ(run.name(PathKind::remove, "d/a").error, 0);
    EXPECT_EQ(run.name(PathKind::remove, "d/a").error, ENOENT);
    EXPECT_EQ(run.name(PathKind::remove, "d").error, 0);
    EXPECT_EQ(run.name(PathKind::list, "d").error, ENOENT);
    EXPECT_EQ(run.name(PathKind::stat, "never/named").error, 0) << "it was there before the run";
}

TEST(Names, OfASequenceOfTheMediaToo) {
    using PathKind = PathOp::Kind;
    sim::ClusterOptions options = with_journal();
    options.media.emplace_back(std::make_shared<PlainMedia>("seq", 5, kMiB, true));
    WriteRun run(options);
    EXPECT_EQ(run.name(PathKind::stat, "seq/f.1002.dpx").bytes, kMiB);
    EXPECT_EQ(run.name(PathKind::list, "seq").entries, 5u);
    EXPECT_EQ(run.name(PathKind::remove, "seq/f.1002.dpx").error, 0);
    run.create("seq/f.1002.dpx", Access::read, ENOENT);
    EXPECT_EQ(run.name(PathKind::list, "seq").entries, 4u);
    run.create("seq/f.1003.dpx", Access::create_new, EEXIST);
}

TEST(Names, TakeTurnsInTheirLinesAndChangesTheJournal) {
    sim::ClusterOptions options = with_journal();
    options.model.node.cores = 8;
    options.model.node.metadata.cpu_s_per_stat = 10e-6;
    options.model.node.metadata.cpu_s_per_create = 20e-6;
    options.model.node.metadata.lines = 1;
    options.model.node.metadata.line_share = 5;
    options.model.node.journal.latency = microseconds(7);
    WriteRun run(options);
    std::deque<PathOp> ops(8);
    for (PathOp& op : ops) {
        op.done = {[](void*) {}, nullptr};
        op.path = "a";
        run.storage->perform(op);
    }
    run.loop.run();
    EXPECT_EQ(ops.front().completed_at, Instant{} + microseconds(10 + 50));
    EXPECT_EQ(ops.back().completed_at, Instant{} + microseconds(10 + 8 * 50));
    const Instant from = run.loop.now();
    EXPECT_EQ(run.name(PathOp::Kind::make_directory, "d").completed_at, from + microseconds(20 + 100 + 7));
}

}  // namespace
}  // namespace streamsim::test
