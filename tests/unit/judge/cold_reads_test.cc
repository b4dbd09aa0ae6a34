// Whether the counters of a server prove that reads were cold: by the names of the counters, and by how much
// they grew against the bytes that were read.
#include "judge/cold_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace streamsim::judge {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kRead = 8'000'000'000;

CounterChange grew(const std::string& name, double by) {
    return {name, 1000, 1000 + by, by};
}

ColdReads reads(const std::string& name, double by) {
    return find_cold_reads({grew(name, by)}, kRead).reads;
}

TEST(ColdReadsNames, CounterOfDrivesSaysDriveReadAndBytes) {
    for (const char* name :
         {"disk_read_bytes", "disks.read.bytes", "node_disk_read_bytes_total{device=\"sda\"}",
          "Drive3-Reads-Bytes", "nvme0_read_bytes", "dev_read_bytes"})
        EXPECT_TRUE(counts_drive_reads(name)) << name;
}

TEST(ColdReadsNames, OthersDoNot) {
    for (const char* name : {"disk_reads", "disk_read_kb", "read_bytes", "nfs_read_bytes", "disk_write_bytes",
                             "disk_cache_read_bytes", "disk_read_hit_bytes", "l2arc_disk_read_bytes", "bytes",
                             "disk_read_bytes_per_s", "diskette_read_bytes", "disk_read_write_bytes", "",
                             "reads{name=\"disk_read_bytes\"}"})
        EXPECT_FALSE(counts_drive_reads(name)) << name;
}

TEST(ColdReads, DrivesReadWhatTheStepRead) {
    const ColdReadsFinding found = find_cold_reads({grew("disk_read_bytes", 8.1e9)}, kRead);
    EXPECT_EQ(found.reads, ColdReads::cold);
    EXPECT_EQ(found.summary, "disk_read_bytes +8.1 GB of 8.0 GB read: the reads were cold");
}

TEST(ColdReads, BoundsAre95And150Percent) {
    EXPECT_EQ(reads("disk_read_bytes", 0.95 * kRead), ColdReads::cold);
    EXPECT_EQ(reads("disk_read_bytes", 0.949 * kRead), ColdReads::not_cold);
    EXPECT_EQ(reads("disk_read_bytes", 1.5 * kRead), ColdReads::cold);
    EXPECT_EQ(reads("disk_read_bytes", 1.501 * kRead), ColdReads::not_known);
}

TEST(ColdReads, LessCameFromACache) {
    const ColdReadsFinding found = find_cold_reads({grew("disk_read_bytes", 3e9)}, kRead);
    EXPECT_EQ(found.reads, ColdReads::not_cold);
    EXPECT_THAT(found.summary, HasSubstr("+3.0 GB of 8.0 GB read: not all reads were cold, 5.0 GB came from"));
}

TEST(ColdReads, CounterThatWentBackProvesNothing) {
    const ColdReadsFinding found = find_cold_reads({grew("disk_read_bytes", -3e9)}, kRead);
    EXPECT_EQ(found.reads, ColdReads::not_known);
    EXPECT_THAT(found.summary, HasSubstr("disk_read_bytes -3.0 GB of 8.0 GB read: it went back"));
}

TEST(ColdReads, MoreThanWasReadIsNoProof) {
    const ColdReadsFinding found = find_cold_reads({grew("disk_read_bytes", 80e9)}, kRead);
    EXPECT_EQ(found.reads, ColdReads::not_known);
    EXPECT_THAT(found.summary, HasSubstr("other work read, too"));
}

TEST(ColdReads, SeriesOfOneCounterAreAddedUp) {
    const ColdReadsFinding found = find_cold_reads(
        {grew("disk_read_bytes_total{drive=\"1\"}", 4e9), grew("disk_read_bytes_total{drive=\"2\"}", 4e9)},
        kRead);
    EXPECT_EQ(found.reads, ColdReads::cold);
    EXPECT_THAT(found.summary, HasSubstr("disk_read_bytes +8.0 GB"));
}

CounterChange disk(const std::string& device, double by) {
    return grew("node_disk_read_bytes_total{instance=\"nas:9100\", device=\"" + device + "\"}", by);
}

/// As node_exporter lists them.
TEST(ColdReads, ArraysAreNotAddedToTheirDrives) {
    const ColdReadsFinding warm =
        find_cold_reads({disk("sda", 2e9), disk("sdb", 2e9), disk("md0", 4e9), disk("dm-0", 4e9)}, kRead);
    EXPECT_EQ(warm.reads, ColdReads::not_cold) << warm.summary;
    EXPECT_THAT(warm.summary, HasSubstr("+4.0 GB of 8.0 GB"));
    EXPECT_EQ(find_cold_reads({disk("sda", 8e9), disk("md_d1", 8e9)}, kRead).reads, ColdReads::cold);
    EXPECT_EQ(find_cold_reads({disk("md0", 8e9)}, kRead).reads, ColdReads::cold) << "alone";
    EXPECT_EQ(find_cold_reads({disk("mdisk1", 4e9), disk("sda", 4e9)}, kRead).reads, ColdReads::cold);
}

TEST(ColdReads, OwnMemoryThatGaveATwentiethOrMoreIsNoProof) {
    EXPECT_EQ(find_cold_reads({grew("disk_read_bytes", 8e9)}, kRead, kRead / 20).reads, ColdReads::cold);
    const ColdReadsFinding found = find_cold_reads({grew("disk_read_bytes", 8e9)}, kRead, 4'000'000'000);
    EXPECT_EQ(found.reads, ColdReads::not_known);
    EXPECT_THAT(found.summary, HasSubstr("4.0 GB came from this computer's page cache"));
    EXPECT_EQ(find_cold_reads({grew("disk_read_bytes", 3e9)}, kRead, 4'000'000'000).reads, ColdReads::not_cold);
}

TEST(ColdReads, SeveralCountersMayBePartsOfTheWhole) {
    const std::vector<CounterChange> halves = {grew("disk1_read_bytes", 4e9), grew("disk2_read_bytes", 4e9)};
    const ColdReadsFinding found = find_cold_reads(halves, kRead);
    EXPECT_EQ(found.reads, ColdReads::not_known);
    EXPECT_THAT(found.summary, HasSubstr("print one of all together"));
}

TEST(ColdReads, OtherCountersAndNoReadsSayNothing) {
    EXPECT_THAT(find_cold_reads({grew("cache_hits", 8e9)}, kRead).summary, IsEmpty());
    EXPECT_EQ(find_cold_reads({grew("cache_hits", 8e9)}, kRead).reads, ColdReads::not_known);
    EXPECT_THAT(find_cold_reads({grew("disk_read_bytes", 8e9)}, 0).summary, IsEmpty());
    EXPECT_THAT(find_cold_reads({}, kRead).summary, IsEmpty());
}

}  // namespace
}  // namespace streamsim::judge
