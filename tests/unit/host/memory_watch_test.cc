// Control groups as the tables of /proc name them.
#include "host/memory_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace streamsim::host {
namespace {

constexpr std::string_view kV1Mounts =
    "30 24 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "31 30 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "32 30 0:28 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
    "33 30 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup rw\n";
constexpr std::string_view kV2Mounts = "33 30 0:29 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";

TEST(MemoryGroup, IsTheV1ControllersWhereThereIsOne) {
    const auto group = memory_group_in("5:cpu,cpuacct:/x\n4:memory:/jobs/7\n0::/elsewhere\n", kV1Mounts);
    ASSERT_TRUE(group);
    EXPECT_EQ(group->mount, "/sys/fs/cgroup/memory");
    EXPECT_EQ(group->path, "jobs/7");
    EXPECT_FALSE(group->v2);
}

TEST(MemoryGroup, IsTheUnifiedOneElsewhere) {
    const auto group = memory_group_in("0::/user.slice/play.scope\n", kV2Mounts);
    ASSERT_TRUE(group);
    EXPECT_EQ(group->mount, "/sys/fs/cgroup");
    EXPECT_EQ(group->path, "user.slice/play.scope");
    EXPECT_TRUE(group->v2);
}

TEST(MemoryGroup, OfAContainerIsTheRootOfWhatItSees) {
    const auto group =
        memory_group_in("4:memory:/docker/abc\n",
                        "32 30 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    ASSERT_TRUE(group);
    EXPECT_EQ(group->path, "");
}

TEST(MemoryGroup, IsNoneWhereNothingIsMounted) {
    EXPECT_FALSE(memory_group_in("4:memory:/a\n", ""));
    EXPECT_FALSE(memory_group_in("", kV2Mounts));
}

TEST(MemoryWatch, CountsWhatTheComputerSays) {
    SystemSample sample;
    MemoryWatch().read(sample);
    if (!sample.memory_limit_hits) GTEST_SKIP() << "no control groups of memory are mounted here";
    SystemSample later;
    MemoryWatch().read(later);
    EXPECT_GE(*later.memory_limit_hits, *sample.memory_limit_hits);
}

/// A process in the group user/job, with files in place of those of the kernel.
class GroupsAbove : public testing::Test {
protected:
    GroupsAbove() {
        EXPECT_NE(mkdtemp(root_.data()), nullptr);
        put("/proc/vmstat", "allocstall_normal 5\n");
    }
    ~GroupsAbove() override { std::filesystem::remove_all(root_); }

    void put(const std::string& path, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text;
    }
    void use_version_2() {
        put("/proc/self/cgroup", "0::/user/job\n");
        put("/proc/self/mountinfo", std::string(kV2Mounts));
        put("/sys/fs/cgroup/user/job/memory.max", "max\n");
        put("/sys/fs/cgroup/user/memory.max", "500000\n");
        // The kernel counts an event in the group whose limit was met, and in memory.events above it.
        put("/sys/fs/cgroup/user/job/memory.events", "low 1\nhigh 2\nmax 3\noom 0\noom_kill 0\n");
        put("/sys/fs/cgroup/user/memory.events", "low 1\nhigh 2\nmax 43\noom 0\noom_kill 0\n");
    }
    SystemSample sample() const {
        SystemSample sample;
        MemoryWatch(root_).read(sample);
        return sample;
    }

    std::string root_ = testing::TempDir() + "streamsim-memory-watch-XXXXXX";
};

TEST_F(GroupsAbove, HaveLimitsOfVersion2Too) {
    use_version_2();
    put("/sys/fs/cgroup/user/job/memory.events.local", "low 1\nhigh 2\nmax 3\noom 0\noom_kill 0\n");
    put("/sys/fs/cgroup/user/memory.events.local", "low 0\nhigh 0\nmax 40\noom 0\noom_kill 0\n");
    EXPECT_EQ(sample().memory_limit_hits, 5u + 5 + 40);
    EXPECT_EQ(sample().memory_limit_bytes, 500'000u);
}

TEST_F(GroupsAbove, CountNothingWhereTheKernelDoesNotTellWhoseLimitItWas) {
    use_version_2();
    EXPECT_EQ(sample().memory_limit_hits, 5u + 5) << "the events above are also those of other groups";
    EXPECT_EQ(sample().memory_limit_bytes, 500'000u);
}

TEST_F(GroupsAbove, HaveLimitsWhoseEventsCountToo) {
    use_version_2();
    put("/sys/fs/cgroup/user/job/memory.high", "400000\n");
    put("/sys/fs/cgroup/user/memory.high", "max\n");
    EXPECT_EQ(sample().memory_limit_bytes, 400'000u) << "the events count both limits";
}

TEST_F(GroupsAbove, RefaultsAreThoseOfFiles) {
    use_version_2();
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    put("/sys/fs/cgroup/user/job/memory.stat", "workingset_refault_anon 50\nworkingset_refault_file 3\n");
    EXPECT_EQ(sample().refaulted_bytes, 3 * page) << "the others came from swap";
    put("/sys/fs/cgroup/user/job/memory.stat", "workingset_refault 7\n");
    EXPECT_EQ(sample().refaulted_bytes, 7 * page) << "Linux before 5.9";
}

TEST_F(GroupsAbove, AreHiddenFromAContainerThatHasPressureOfItsOwn) {
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", std::string(kV2Mounts));
    std::filesystem::create_directories(root_ + "/sys/fs/cgroup");
    EXPECT_EQ(sample().own_memory_pressure_ns, std::nullopt) << "Linux before 5.2, in the root group";
    put("/sys/fs/cgroup/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
    EXPECT_EQ(sample().own_memory_pressure_ns, 7'000);
}

TEST_F(GroupsAbove, HaveLimitsOfVersion1) {
    put("/proc/self/cgroup", "4:memory:/user/job\n");
    put("/proc/self/mountinfo", std::string(kV1Mounts));
    put("/sys/fs/cgroup/memory/user/job/memory.failcnt", "3\n");
    put("/sys/fs/cgroup/memory/user/memory.failcnt", "40\n");
    put("/sys/fs/cgroup/memory/user/job/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/user/memory.limit_in_bytes", "400000\n");
    EXPECT_EQ(sample().memory_limit_hits, 5u + 3 + 40);
    EXPECT_EQ(sample().memory_limit_bytes, 400'000u);
}

}  // namespace
}  // namespace streamsim::host
