#include "storage/buffer_arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace streamsim::storage {
namespace {

using testing::HasSubstr;

TEST(BufferArena, GivesZeroedMemoryFromAHugePageOn) {
    std::string said;
    const auto arena = BufferArena::make(20'000'001, [&said](const std::string& text) { said = text; });
    ASSERT_TRUE(arena);
    const auto memory = arena->memory();
    EXPECT_EQ(memory.size(), 20'000'001u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % (2 << 20), 0u);
    for (std::size_t i = 0; i < memory.size(); i += 1000) ASSERT_EQ(memory[i], std::byte{0});
    memory.back() = std::byte{1};
    EXPECT_EQ(arena->huge_pages(), said.empty()) << "a refusal is said: " << said;
}

TEST(BufferArena, ASmallOneDoesWithoutHugePagesAndWithoutAWarning) {
    const auto arena = BufferArena::make(5000, [](const std::string& text) { ADD_FAILURE() << text; });
    ASSERT_TRUE(arena);
    EXPECT_EQ(arena->memory().size(), 5000u);
    EXPECT_TRUE(BufferArena::make(0, {})->memory().empty());
}

TEST(BufferArena, MovesAndLeavesItsMemoryInPlace) {
    auto first = BufferArena::make(5000, {}).value();
    std::byte* const at = first.memory().data();
    BufferArena second(std::move(first));
    EXPECT_EQ(second.memory().data(), at);
    auto third = BufferArena::begin(50'000'000).value();  // whose pages are still being touched
    third = std::move(second);
    EXPECT_EQ(third.memory().data(), at);
}

TEST(BufferArena, HasAllItsPagesWhenItIsFinishedAlsoAfterAMove) {
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    auto begun = BufferArena::begin(kBytes).value();
    BufferArena arena(std::move(begun));
    arena.finish({});
    std::vector<unsigned char> resident(kBytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    ASSERT_EQ(mincore(arena.memory().data(), kBytes, resident.data()), 0);
    EXPECT_TRUE(std::all_of(resident.begin(), resident.end(), [](unsigned char page) { return page & 1; }));
}

TEST(BufferArena, TooMuchIsAnErrorThatSaysWhatToLower) {
    const auto arena = BufferArena::make(std::uint64_t{1} << 50, {});
    ASSERT_FALSE(arena);
    EXPECT_EQ(arena.error().kind, ErrorKind::environment);
    EXPECT_THAT(arena.error().problems.front(),
                testing::AllOf(HasSubstr("1.1 PB"), HasSubstr("--readahead"), HasSubstr("--streams")));
}

class MemoryAvailableTest : public testing::Test {
protected:
    MemoryAvailableTest() {
        EXPECT_NE(mkdtemp(root_.data()), nullptr);
        put("/proc/meminfo", "MemTotal:       2000 kB\nMemFree:         500 kB\nMemAvailable:    1000 kB\n");
    }
    ~MemoryAvailableTest() override { std::filesystem::remove_all(root_); }

    void put(const std::string& path, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text;
    }

    std::string root_ = testing::TempDir() + "streamsim-memory-XXXXXX";
};

TEST_F(MemoryAvailableTest, IsTheMachinesWithoutControlGroups) {
    EXPECT_EQ(memory_available(root_).bytes, 1000u * 1024);
    EXPECT_EQ(memory_available(root_).limit, "this machine");
}

TEST_F(MemoryAvailableTest, IsLimitedByAControlGroupOrItsParent) {
    put("/proc/self/cgroup", "0::/user/job\n");
    put("/sys/fs/cgroup/user/job/memory.max", "max\n");
    put("/sys/fs/cgroup/user/job/memory.current", "5\n");
    put("/sys/fs/cgroup/user/memory.max", "500000\n");
    put("/sys/fs/cgroup/user/memory.current", "300000\n");
    EXPECT_EQ(memory_available(root_).bytes, 200'000u);
    EXPECT_THAT(memory_available(root_).limit, HasSubstr("/user"));
    put("/sys/fs/cgroup/user/memory.stat", "anon 1\nfile 150000\ninactive_file 100000\nactive_file 50000\n");
    EXPECT_EQ(memory_available(root_).bytes, 350'000u) << "cache can be given back";
}

TEST_F(MemoryAvailableTest, IsLimitedByTheAddressesThatUlimitLeaves) {
    put("/proc/meminfo", "MemAvailable: 1000000000 kB\n");
    put("/proc/self/statm", "1000 500 0 0 0 0 0\n");
    put("/proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units\n"
        "Max address space         68719476736          unlimited            bytes\n");
    const MemoryAvailable available = memory_available(root_);
    EXPECT_EQ(available.bytes, (std::uint64_t{1} << 36) - 1000 * static_cast<std::uint64_t>(getpagesize()));
    EXPECT_EQ(available.limit, "the limit of `ulimit -v`");
    put("/proc/self/limits", "Max address space         4000                 unlimited            bytes\n");
    EXPECT_EQ(memory_available(root_).bytes, 0u) << "a limit below what is used";
    put("/proc/self/limits", "Max address space         unlimited            unlimited            bytes\n");
    EXPECT_EQ(memory_available(root_).bytes, 1'024'000'000'000u);
    put("/proc/meminfo", "MemAvailable: 2000 kB\n");
    put("/proc/self/limits", "Max address space         68719476736          unlimited            bytes\n");
    EXPECT_EQ(memory_available(root_).bytes, 2'048'000u);
    EXPECT_EQ(memory_available(root_).limit, "this machine");
}

TEST_F(MemoryAvailableTest, KnowsVersion1) {
    put("/proc/self/cgroup", "12:blkio:/\n9:cpu,memory:/docker/abc\n");
    put("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "400000\n");
    put("/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "500000\n");
    EXPECT_EQ(memory_available(root_).bytes, 0u) << "over its limit already";
    put("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(memory_available(root_).bytes, 1000u * 1024);
}

TEST_F(MemoryAvailableTest, DoesWithoutWhatASystemDoesNotTell) {
    put("/proc/meminfo", "MemTotal: 2000 kB\n");
    EXPECT_EQ(memory_available(root_).bytes, UINT64_MAX) << "before Linux 3.14";
    std::filesystem::remove(root_ + "/proc/meminfo");
    EXPECT_EQ(memory_available(root_).bytes, UINT64_MAX);
    put("/proc/self/cgroup", "no group\n1:name=systemd:/x\n0::\n");
    put("/sys/fs/cgroup/memory.max", "5000\n");
    EXPECT_EQ(memory_available(root_).bytes, UINT64_MAX) << "a limit without a usage";
    put("/sys/fs/cgroup/memory.current", "1000\n");
    EXPECT_EQ(memory_available(root_).bytes, 4000u);
    put("/sys/fs/cgroup/memory.stat", "inactive_file 3000\n");
    EXPECT_EQ(memory_available(root_).bytes, 5000u) << "more cache than was used a moment before";
    put("/proc/self/cgroup", "0::job\n");
    EXPECT_EQ(memory_available(root_).bytes, 5000u) << "the group above";
}

}  // namespace
}  // namespace streamsim::storage
