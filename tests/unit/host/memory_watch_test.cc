// Control groups as the tables of /proc name them.
#include "host/memory_watch.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace streamsim::host
