// The reads and writes of a meter, by counting the operations that its storage was asked for. Samples and
// critical values (p = 0.001) are stated; seeds are fixed.
#include <fmt/format.h>

#include <map>

#include "unit/load/chi_square.h"
#include "unit/load/meter_rig.h"

namespace streamsim::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(MeterTransfers, TheMixOfOperationsAndOfBlockSizesIsAsWeighted) {
    Rig rig;
    rig.weigh(LoadOperation::read, 60);
    rig.weigh(LoadOperation::write, 25);
    rig.weigh(LoadOperation::stat, 10);
    rig.weigh(LoadOperation::list, 5);
    rig.spec.blocks = {{4096, 6}, {65'536, 3}, {8192, 1}};
    rig.spec.users = 10;
    rig.storage.fixed = milliseconds(1);
    const MeterResult& result = rig.run(seconds(5));
    EXPECT_EQ(result.all.done, 50'000u);
    const std::vector<std::uint64_t> counts = {rig.asked(Asked::read).size(), rig.asked(Asked::write).size(),
                                               rig.asked(Asked::stat).size(), rig.asked(Asked::list).size()};
    EXPECT_LT(chi_square(counts, {60, 25, 10, 5}), 16.27) << "50,000; 3 degrees of freedom";
    EXPECT_EQ(counts[0], rig.of(LoadOperation::read).done);
    EXPECT_EQ(counts[3], rig.of(LoadOperation::list).done);
    EXPECT_EQ(result.blocks_done, counts[0] + counts[1]);
    std::vector<std::uint64_t> blocks(3);
    std::uint64_t bytes = 0;
    for (const auto kind : {Asked::read, Asked::write}) {
        for (const Asked& each : rig.asked(kind)) {
            ++blocks.at(each.bytes == 4096 ? 0 : each.bytes == 65'536 ? 1 : 2);
            bytes += each.bytes;
        }
    }
    EXPECT_LT(chi_square(blocks, {6, 3, 1}), 13.82) << "42,500; 2 degrees of freedom";
    EXPECT_EQ(bytes, result.all.bytes);
}

TEST(MeterTransfers, TheRandomShareIsAsAskedForAndTheOthersGoOnWhereTheLastEnded) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.weigh(LoadOperation::write, 1);
    rig.spec.random_share = 0.3;
    rig.spec.set.file_bytes = 4096 * 100'000ull;
    rig.storage.fixed = microseconds(100);
    rig.run(seconds(5));
    std::uint64_t jumps = 0, expected = 0;
    for (const Asked& each : rig.storage.log) {
        if (!each.in_play) continue;
        jumps += each.offset == expected ? 0 : 1;
        expected = (each.offset + each.bytes) % rig.spec.set.file_bytes;
    }
    EXPECT_LT(chi_square({jumps, 50'000 - jumps}, {30, 70}), 10.83) << "50,000; 1 degree of freedom";
}

TEST(MeterTransfers, RandomPositionsAreUniformOverTheFile) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.random_share = 1;
    rig.spec.set.file_bytes = 4096 * 1600 + 100;  // the last bytes are no block
    rig.storage.fixed = microseconds(100);
    rig.run(seconds(5));
    std::vector<std::uint64_t> parts(16);
    for (const Asked& each : rig.asked(Asked::read)) {
        ASSERT_EQ(each.offset % 4096, 0u);
        ++parts.at(each.offset / 4096 / 100);
    }
    EXPECT_LT(chi_square(parts, std::vector<double>(16, 1)), 37.70) << "50,000; 15 degrees of freedom";
}

TEST(MeterTransfers, ASequentialUserGoesAroundTheEndOfTheFile) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.blocks = {{1000, 1}, {300, 0}};
    rig.spec.lengths = {{2400, 1}};
    rig.spec.set.file_bytes = 4500;
    rig.run(milliseconds(150));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> asked;
    for (const Asked& each : rig.asked(Asked::read)) asked.emplace_back(each.offset, each.bytes);
    using P = std::pair<std::uint64_t, std::uint64_t>;
    // 2400 is two blocks, the other size, and what none fits.
    EXPECT_THAT(asked,
                testing::ElementsAre(P{0, 1000}, P{1000, 1000}, P{2000, 300}, P{2300, 100}, P{2400, 1000},
                                     P{3400, 1000}, P{0, 300}, P{300, 100}, P{400, 1000}, P{1400, 1000},
                                     P{2400, 300}, P{2700, 100}, P{2800, 1000}, P{0, 1000}, P{1000, 300}));
    EXPECT_EQ(rig.result.all.done, 3u);
    EXPECT_EQ(rig.result.unfinished, 1u);
    EXPECT_EQ(rig.result.blocks_done, 15u);
    EXPECT_EQ(rig.result.all.bytes, 3 * 2400u + 2300) << "of blocks that were complete by the end";
}

/// Transfers of 3/8 of a file, and of one byte less, in some 10^12 blocks and what is left of them.
TEST(MeterTransfers, TheEndOfALongOneIsFoundWithoutALoop) {
    constexpr std::uint64_t kEighth = std::uint64_t{1} << 50;
    load::MeterPlan plan;
    plan.spec.weights[index(LoadOperation::read)] = 1;
    plan.spec.set.file_bytes = 8 * kEighth;
    plan.spec.blocks = {{4096, 1}, {512, 0}};
    const load::Draws draws(plan.spec, 1);
    load::MeterFiles files(plan, draws);
    Prng prng(1);
    const auto begin = [&](std::uint64_t bytes) {
        return files.sequential_offset(0, 0, {bytes, draws.sizes().fitting(bytes, 1)}, prng);
    };
    EXPECT_EQ(begin(3 * kEighth), 0u);
    EXPECT_EQ(begin(3 * kEighth - 1), 3 * kEighth);
    EXPECT_EQ(begin(3 * kEighth - 1), 6 * kEighth - 1);
    EXPECT_EQ(begin(4096), kEighth - 1) << "the last byte of the file holds no block";
}

/// The visits of each position of each file in each pass over it; an error where passes overlap.
void expect_whole_passes(const Rig& rig, std::uint64_t unit, std::uint64_t passes) {
    const std::uint64_t positions = rig.spec.set.file_bytes / unit;
    std::map<std::string, std::vector<std::uint64_t>> by_file;
    for (const Asked& each : rig.asked(Asked::read)) {
        if (each.offset % unit == 0) by_file[each.path].push_back(each.offset / unit);
    }
    for (const auto& [path, visited] : by_file) {
        ASSERT_GE(visited.size(), positions * passes) << path;
        std::vector<std::uint64_t> first;
        for (std::uint64_t pass = 0; pass < passes; ++pass) {
            std::vector<std::uint64_t> order(
                visited.begin() + static_cast<std::ptrdiff_t>(pass * positions),
                visited.begin() + static_cast<std::ptrdiff_t>((pass + 1) * positions));
            EXPECT_NE(order, first) << "another order in each pass";
            first = order;
            std::sort(order.begin(), order.end());
            for (std::uint64_t i = 0; i < positions; ++i) ASSERT_EQ(order[i], i) << path << " pass " << pass;
        }
    }
}

TEST(MeterTransfers, PositionsThatDoNotRepeatAreAllVisitedBeforeOneComesAgain) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.random_share = 1;
    rig.spec.non_repeating = true;
    rig.spec.set.files = 2;
    rig.spec.set.file_bytes = 4096 * 777 + 11;
    rig.spec.inflight = 4;
    rig.storage.fixed = milliseconds(1);
    rig.run(seconds(2));
    expect_whole_passes(rig, 4096, 4);
}

TEST(MeterTransfers, BlocksOfSeveralSizesThatDoNotRepeatNeverMeet) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.random_share = 1;
    rig.spec.random_by_block = true;
    rig.spec.non_repeating = true;
    rig.spec.blocks = {{4096, 1}, {16'384, 1}, {512, 0}};
    rig.spec.length_up_to = 100 * 1024;
    rig.spec.set.file_bytes = 16'384 * 500;
    rig.storage.fixed = milliseconds(1);
    rig.run(milliseconds(1600));
    expect_whole_passes(rig, 16'384, 3);
}

TEST(MeterTransfers, SeatsOfASharedFileTakeTurnsInOneOrder) {
    std::set<std::uint64_t> seen;
    for (const std::uint32_t seat : {0u, 1u, 2u}) {
        Rig rig;
        rig.weigh(LoadOperation::read, 1);
        rig.spec.random_share = 1;
        rig.spec.non_repeating = true;
        rig.spec.set.of = WorkingSet::Of::all;
        rig.spec.users = 2;
        rig.spec.set.file_bytes = 4096 * 300;
        rig.plan.seat = seat + 4;
        rig.plan.seats = 3;
        rig.plan.first_user = seat * 2;
        rig.storage.fixed = milliseconds(10);
        rig.run(milliseconds(500));
        ASSERT_EQ(rig.asked(Asked::read).size(), 100u);
        for (const Asked& each : rig.asked(Asked::read)) {
            EXPECT_EQ(each.path, "root/shared/f0.load");
            EXPECT_TRUE(seen.insert(each.offset).second) << "twice " << each.offset;
        }
    }
    EXPECT_EQ(seen.size(), 300u);
}

TEST(MeterTransfers, UsersOfASharedFileBeginInPartsOfTheirOwn) {
    Rig rig;
    rig.weigh(LoadOperation::write, 1);
    rig.spec.blocks = {{kMiB, 1}};
    rig.spec.set.file_bytes = 100 * kMiB;
    rig.spec.set.of = WorkingSet::Of::all;
    rig.spec.users = 4;
    rig.plan.seats = 2;
    rig.plan.first_user = 4;
    rig.run(milliseconds(10));
    std::vector<std::uint64_t> begins;
    for (const Asked& each : rig.asked(Asked::write)) begins.push_back(each.offset / kMiB);
    EXPECT_THAT(begins, testing::ElementsAre(50, 62, 75, 87));
}

TEST(MeterTransfers, UsersOfAClientsFileBeginInPartsOfItWhateverOtherClientsThereAre) {
    Rig rig;
    rig.weigh(LoadOperation::write, 1);
    rig.spec.blocks = {{kMiB, 1}};
    rig.spec.set.file_bytes = 100 * kMiB;
    rig.spec.set.of = WorkingSet::Of::client;
    rig.spec.users = 4;
    rig.plan.seat = 1;
    rig.plan.seats = 2;
    rig.plan.first_user = 4;
    rig.run(milliseconds(10));
    std::vector<std::uint64_t> begins;
    for (const Asked& each : rig.asked(Asked::write)) {
        begins.push_back(each.offset / kMiB);
        EXPECT_EQ(each.path, "root/s1/f0.load");
    }
    EXPECT_THAT(begins, testing::ElementsAre(0, 25, 50, 75));
}

TEST(MeterTransfers, AUserOfAClosedLoopIsOneThread) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.weigh(LoadOperation::write, 1);
    rig.spec.sequential_from_anywhere = true;
    rig.spec.blocks = {{4096, 1}, {65'536, 1}};
    rig.spec.length_up_to = 256 << 10;
    rig.spec.set.of = WorkingSet::Of::client;
    rig.spec.users = 4;
    rig.storage.bytes_per_s = 1e8;
    rig.storage.fixed = microseconds(100);
    rig.run(seconds(2));
    EXPECT_EQ(rig.storage.most_outstanding, 4u) << "one of each user, whatever file they share";
    std::map<std::uint32_t, std::int64_t> free_at;
    std::map<std::uint32_t, std::uint64_t> transfer;
    for (const OperationRow& row : rig.meter->rows()) {
        EXPECT_GE(row.submitted_ns, free_at[row.user]) << "its blocks follow each other";
        EXPECT_GE(row.transfer, transfer[row.user]) << "and so do its transfers";
        free_at[row.user] = row.completed_ns;
        transfer[row.user] = row.transfer;
    }
    EXPECT_EQ(free_at.size(), 4u);
}

TEST(MeterTransfers, TheLastRowOfATransferHasItsTotalTime) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.blocks = {{4096, 1}, {1024, 0}};
    rig.spec.lengths = {{9216, 1}};  // two blocks, and one of 1 KiB
    const MeterResult& result = rig.run(milliseconds(155));
    std::uint64_t ended = 0;
    std::uint64_t bytes = 0;
    for (const OperationRow& row : rig.meter->rows()) {
        EXPECT_EQ(row.block_bytes, 4096u) << "the size that was drawn, of the remainder too";
        EXPECT_EQ(row.length_bytes, 9216u);
        bytes += row.bytes;
        EXPECT_EQ(row.total_ns.has_value(), bytes == 9216 && row.completed_ns <= milliseconds(155).ns);
        if (!row.total_ns) continue;
        EXPECT_EQ(*row.total_ns, milliseconds(30).ns);
        bytes = 0;
        ++ended;
    }
    EXPECT_EQ(ended, result.all.done);
    EXPECT_EQ(ended, 5u) << "15 blocks; the 16th was in flight at the end";
}

/// Whether no byte was read twice, and how many were read.
std::uint64_t read_once_bytes(const Rig& rig) {
    std::map<std::string, std::map<std::uint64_t, std::uint64_t>> by_file;
    std::uint64_t bytes = 0;
    for (const Asked& each : rig.asked(Asked::read)) {
        EXPECT_TRUE(by_file[each.path].emplace(each.offset, each.offset + each.bytes).second);
        bytes += each.bytes;
    }
    for (const auto& [path, reads] : by_file) {
        std::uint64_t end = 0;
        for (const auto& [from, to] : reads) {
            EXPECT_GE(from, end) << path;
            end = to;
        }
    }
    return bytes;
}

TEST(MeterTransfers, ReadingOnceEndsWhenAllFilesAreRead) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.read_once = true;
    rig.spec.blocks = {{64 << 10, 1}, {4096, 1}};
    rig.spec.length_up_to = 300 << 10;
    rig.spec.set = {3, 1000 << 10, 1, 0, WorkingSet::Of::user};
    rig.spec.users = 2;
    rig.spec.inflight = 4;
    rig.storage.bytes_per_s = 100e6;
    rig.run(seconds(100));
    EXPECT_EQ(read_once_bytes(rig), 2u * 3 * (1000 << 10));
    EXPECT_EQ(rig.of(LoadOperation::read).bytes, 2u * 3 * (1000 << 10));
    EXPECT_LT(rig.result.wall_ns, seconds(100).ns) << "the time until the last block, not until the end";
    EXPECT_EQ(rig.result.unfinished, 0u);
}

TEST(MeterTransfers, ReadingASharedFileOnceIsSharedBetweenTheUsers) {
    for (const double random : {0.0, 1.0}) {
        Rig rig;
        rig.weigh(LoadOperation::read, 1);
        rig.spec.read_once = true;
        rig.spec.random_share = random;
        rig.spec.non_repeating = random > 0;
        rig.spec.set = {1, 1 << 20, 1, 0, WorkingSet::Of::all};
        rig.spec.users = 3;
        rig.spec.inflight = 2;
        rig.run(seconds(100));
        EXPECT_EQ(read_once_bytes(rig), 1u << 20) << random;
    }
}

TEST(MeterTransfers, ASeatThatHasNothingToReadOfASharedFileRan) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.read_once = true;
    rig.spec.set = {1, 4 * 4096, 1, 0, WorkingSet::Of::all};
    rig.plan.seats = 6;
    rig.run(seconds(100));
    EXPECT_EQ(read_once_bytes(rig), 0u);
    EXPECT_GT(rig.result.wall_ns, 0) << "without a time it never ran";
    EXPECT_LT(rig.result.wall_ns, 1000);
}

TEST(MeterTransfers, ReadingWholeFilesOnceOpensEachOnce) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.read_once = rig.spec.whole_files = true;
    rig.spec.set = {5, 64 << 10, 1, 0, WorkingSet::Of::user};
    rig.run(seconds(100));
    EXPECT_EQ(read_once_bytes(rig), 5u * (64 << 10));
}

/// Each cell by the source's formulas, on a storage of 10 ms + bytes / 100 MB/s for a block.
void expect_cells(Rig& rig, Duration latency) {
    std::uint64_t cells = 0;
    for (const auto& [mode, bytes, cell] : rig.result.cells) {
        const Duration block = rig.storage.time_of(bytes);
        const std::uint64_t each = cell.blocks / cell.transfers;
        EXPECT_EQ(cell.blocks, cell.transfers * each) << "all of one length";
        EXPECT_EQ(cell.bytes, cell.blocks * bytes);
        EXPECT_EQ(cell.block_ns, static_cast<std::int64_t>(cell.blocks) * block.ns);
        const double rate = static_cast<double>(each * bytes) * 1e9 /
                            (static_cast<double>(each) * static_cast<double>(block.ns));
        EXPECT_NEAR(cell.rate_sum / static_cast<double>(cell.transfers), rate, rate * 1e-12)
            << "a sum of doubles";
        EXPECT_EQ(cell.latency_ns, static_cast<std::int64_t>(cell.transfers) * latency.ns);
        EXPECT_EQ(cell.latency_max_ns, latency.ns);
        ++cells;
    }
    EXPECT_EQ(cells, 4u * 2) << "modes and sizes";
}

Rig& modes(Rig& rig) {
    rig.weigh(LoadOperation::read, 1);
    rig.weigh(LoadOperation::write, 1);
    rig.spec.random_share = 0.5;
    rig.spec.random_by_block = true;
    rig.spec.sequential_from_anywhere = true;
    rig.spec.blocks = {{64 << 10, 1}, {kMiB, 1}};
    rig.spec.lengths = {{3 * kMiB, 1}};
    rig.spec.set.file_bytes = 64 * kMiB;
    rig.spec.inflight = 4;
    rig.storage.bytes_per_s = 100e6;
    return rig;
}

TEST(MeterTransfers, TheCellsAreWhatArithmeticGives) {
    Rig rig;
    modes(rig).run(seconds(100));
    expect_cells(rig, Duration{});
    EXPECT_GT(rig.result.all.done, 900u);
    // The share of each mode, with its block size, in about 1200 transfers.
    std::vector<std::uint64_t> counts;
    for (const auto& cell : rig.result.cells) counts.push_back(cell.cell.transfers);
    EXPECT_LT(chi_square(counts, std::vector<double>(8, 1)), 24.32) << "7 degrees of freedom";
}

TEST(MeterTransfers, FilesThatAreOpenedForATransferArePartOfItsLatency) {
    Rig rig;
    modes(rig).spec.set.files = 65;
    rig.run(seconds(50));
    expect_cells(rig, rig.storage.fixed);
    const auto opens = rig.asked(Asked::open);
    EXPECT_EQ(opens.size(), rig.result.arrived);
    std::set<std::string> paths;
    for (const Asked& each : opens) paths.insert(each.path);
    EXPECT_EQ(paths.size(), 65u);
}

TEST(MeterTransfers, WholeFilesAreOpenedOneAfterTheOtherAndMovedFromTheFront) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.whole_files = true;
    rig.spec.blocks = {{65'536, 1}, {35'456, 0}};
    rig.spec.set.files = 3;
    rig.spec.set.file_bytes = 3 * 65'536 + 35'456;
    rig.storage.fixed = milliseconds(10);
    rig.run(milliseconds(350));  // an open and four blocks each: seven files
    const auto opens = rig.asked(Asked::open);
    ASSERT_EQ(opens.size(), 7u);
    for (std::size_t i = 3; i < opens.size(); ++i) EXPECT_EQ(opens[i].path, opens[i - 3].path);
    EXPECT_NE(opens[0].path, opens[1].path);
    EXPECT_NE(opens[1].path, opens[2].path);
    const auto reads = rig.asked(Asked::read);
    ASSERT_EQ(reads.size(), 28u);
    for (std::size_t i = 0; i < reads.size(); ++i) {
        EXPECT_EQ(reads[i].path, opens[i / 4].path);
        EXPECT_EQ(reads[i].offset, i % 4 * 65'536);
        EXPECT_EQ(reads[i].bytes, i % 4 == 3 ? 35'456u : 65'536u);
    }
    EXPECT_EQ(rig.of(LoadOperation::read).done, 7u);
    EXPECT_EQ(rig.storage.open_files, 0);
}

TEST(MeterTransfers, WritesHaveSizesOfTheirOwnWhereTheyAreGiven) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.weigh(LoadOperation::write, 1);
    rig.spec.blocks = {{4096, 1}};
    rig.spec.writes = WriteSizes{{{kMiB, 1}, {8192, 0}}, {{2 * kMiB + 8192, 1}}};
    rig.spec.set.file_bytes = 16 * kMiB;
    rig.storage.fixed = milliseconds(1);
    rig.run(seconds(1));
    std::map<std::uint64_t, std::uint64_t> reads, writes;
    for (const Asked& each : rig.asked(Asked::read)) ++reads[each.bytes];
    for (const Asked& each : rig.asked(Asked::write)) ++writes[each.bytes];
    EXPECT_EQ(reads.size(), 1u);
    EXPECT_TRUE(reads.contains(4096));
    EXPECT_EQ(writes.size(), 2u);
    EXPECT_NEAR(static_cast<double>(writes[kMiB]), 2.0 * static_cast<double>(writes[8192]), 2);
}

TEST(MeterTransfers, ATransferShorterThanItsBlockIsCountedUnderTheSizeThatItIsMovedIn) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.blocks = {{kMiB, 1}, {4096, 0}, {1024, 0}};
    rig.spec.lengths = {{9 << 10, 1}};
    rig.spec.set.file_bytes = kMiB;
    rig.run(milliseconds(90));
    ASSERT_EQ(rig.result.cells.size(), 1u);
    EXPECT_EQ(rig.result.cells[0].block_bytes, 4096u);
    EXPECT_EQ(rig.result.cells[0].cell.transfers, 3u);
    EXPECT_EQ(rig.result.cells[0].cell.blocks, 9u);
    EXPECT_EQ(rig.result.cells[0].cell.bytes, 3u * 9 * 1024);
}

TEST(MeterTransfers, AnFsyncAfterEachWriteIsPartOfTheBlock) {
    Rig rig;
    rig.weigh(LoadOperation::write, 1);
    rig.spec.sync = MeterSpec::Sync::each_write;
    rig.spec.lengths = {{4096 * 4, 1}};
    rig.run(milliseconds(400));
    EXPECT_EQ(rig.result.all.done, 5u) << "80 ms each";
    EXPECT_EQ(rig.asked(Asked::write).size(), 20u);
    EXPECT_EQ(rig.asked(Asked::sync).size(), 20u);
    EXPECT_EQ(rig.result.cells[0].cell.block_ns, milliseconds(400).ns);
    EXPECT_EQ(rig.result.cells[0].cell.latency_ns, 0);
    EXPECT_EQ(rig.result.wall_ns, milliseconds(400).ns);
}

TEST(MeterTransfers, AnFsyncAtTheEndIsOfEachFileThatWasWrittenAndInTheWallTime) {
    Rig rig;
    rig.weigh(LoadOperation::write, 1);
    rig.spec.sync = MeterSpec::Sync::at_end;
    rig.spec.users = 3;
    rig.run(milliseconds(100));
    std::set<std::string> synced;
    for (const Asked& each : rig.asked(Asked::sync)) synced.insert(each.path);
    EXPECT_THAT(synced, testing::ElementsAre("root/s0/u0/f0.load", "root/s0/u1/f0.load", "root/s0/u2/f0.load"));
    EXPECT_EQ(rig.asked(Asked::sync).size(), 3u);
    EXPECT_EQ(rig.result.wall_ns, milliseconds(110).ns);
    EXPECT_EQ(rig.result.all.done, 30u);
}

TEST(MeterTransfers, NoTwoBlocksThatAreWrittenAreAlike) {
    Rig rig;
    rig.weigh(LoadOperation::write, 1);
    rig.spec.users = 3;
    rig.spec.inflight = 2;
    rig.run(seconds(1));
    std::set<std::uint64_t> words;
    for (const Asked& each : rig.asked(Asked::write)) words.insert(each.first_word);
    EXPECT_EQ(words.size(), 600u);
    // Noise: of the bytes that are there, each value as often as any other.
    std::vector<std::uint64_t> values(256);
    for (const std::byte each : rig.memory) ++values[static_cast<std::size_t>(each)];
    EXPECT_EQ(rig.memory.size(), 6u * 4096);
    EXPECT_LT(chi_square(values, std::vector<double>(256, 1)), 330.5) << "24,576; 255 degrees of freedom";
}

TEST(MeterTransfers, MemoryThatNobodyReadsIsNotTouched) {
    Rig rig;
    rig.weigh(LoadOperation::write, 1);
    rig.storage.fills = false;
    rig.run(milliseconds(100));
    for (const std::byte each : rig.memory) ASSERT_EQ(each, std::byte{});
    EXPECT_EQ(rig.result.all.done, 10u);
}

}  // namespace
}  // namespace streamsim::test
