// Lines in which reads of the same place take turns.
#include <algorithm>
#include <map>

#include "sim/sim_fixture.h"

namespace streamsim::test {
namespace {

/// Lines of 1 GB/s; nothing else takes any time.
sim::ClusterOptions in_lines(std::uint32_t lines) {
    sim::ClusterOptions options;
    options.model = plain_model();
    options.model.drive.outer_bytes_per_s = 0;
    options.model.node.read_lines.lines = lines;
    options.model.node.read_lines.bytes_per_s = 1e9;
    return options;
}

/// When each of so many blocks that are read at once is there, in blocks of time.
std::vector<std::int64_t> ends_of(SimRun& run, FileId file, std::uint64_t blocks) {
    std::vector<ReadOp*> reads;
    for (std::uint64_t i = 0; i < blocks; ++i) reads.push_back(&run.read(file, i * kMiB, kMiB));
    run.loop.run();
    std::vector<std::int64_t> ends;
    for (const ReadOp* read : reads) {
        EXPECT_EQ((read->completed_at - read->submitted_at).ns % kBlockNs, 0);
        ends.push_back((read->completed_at - read->submitted_at).ns / kBlockNs);
    }
    return ends;
}

TEST(ReadLines, ALineServesOneReadAtATime) {
    SimRun run(in_lines(1));
    const auto ends = ends_of(run, run.open("a.mov"), 5);
    EXPECT_EQ(ends, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
}

TEST(ReadLines, BlocksLieInLinesAsByChance) {
    constexpr std::uint32_t kLines = 16;
    constexpr std::uint64_t kBlocks = 1600;
    SimRun run(in_lines(kLines));
    const auto ends = ends_of(run, run.open("a.mov"), kBlocks);
    std::map<std::int64_t, int> served;  // in each block of time
    for (const std::int64_t end : ends) ++served[end];
    EXPECT_EQ(served[1], static_cast<int>(kLines));
    // The fullest of 16 lines has about 100 + 1.77 * 10, by the extremes of a normal distribution.
    const std::int64_t longest = *std::max_element(ends.begin(), ends.end());
    EXPECT_GT(longest, 105);
    EXPECT_LT(longest, 140);
}

TEST(ReadLines, AReadStaysWholeInItsLine) {
    sim::ClusterOptions options = in_lines(1);
    options.model.node.read_lines.access.median = nanoseconds(3 * kBlockNs);
    SimRun run(options);
    const FileId file = run.open("a.mov");
    EXPECT_EQ(run.time_of_read(file, 0, kMiB).ns, 4 * kBlockNs);
    EXPECT_NEAR(static_cast<double>(run.time_of_read(file, 0, 4 * kMiB).ns), 7 * kBlockNs, 4);
    EXPECT_EQ(ends_of(run, file, 2), (std::vector<std::int64_t>{4, 8})) << "the access keeps the line, too";
}

TEST(ReadLines, AreTheSameInEachRun) {
    const auto ends = [] {
        SimRun run(in_lines(8));
        return ends_of(run, run.open("a.mov"), 100);
    };
    EXPECT_EQ(ends(), ends());
}

}  // namespace
}  // namespace streamsim::test
