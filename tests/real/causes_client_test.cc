// A client with too little memory: a control group (v1) that holds it to some megabytes. The storage is not the
// limit then; and on a slow storage, memory is not named as the cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cli/harness.h"
#include "real/staged_play.h"
#include "real/throttled_disk.h"

namespace streamsim::tests {
namespace {

using ::testing::Contains;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;

/// The media, and what streamsim leaves free.
constexpr std::uintmax_t kMediaBytes = 3'000'000'000;
const std::string kGroups = "/sys/fs/cgroup/memory";

std::optional<std::string> no_memory_group_because() {
    if (!is_root()) return "control groups need root";
    if (access((kGroups + "/memory.limit_in_bytes").c_str(), W_OK) != 0)
        return "there is no memory controller of control groups v1";
    if (access("/proc/pressure/memory", R_OK) != 0) return "this kernel does not say how it is pressed (PSI)";
    return std::nullopt;
}

std::optional<std::string> no_space_because(std::uintmax_t bytes) {
    const auto place = std::filesystem::temp_directory_path();
    const std::uintmax_t free = std::filesystem::space(place).available;
    if (free >= bytes) return std::nullopt;
    return place.string() + " has " + std::to_string(free) + " bytes free, and " + std::to_string(bytes) +
           " are needed";
}

/// Programs that this one starts have so much memory, as long as it lives.
class MemoryGroup {
public:
    explicit MemoryGroup(std::uint64_t bytes) {
        std::filesystem::create_directory(group_);
        write_text(group_ + "/memory.limit_in_bytes", std::to_string(bytes));
    }
    ~MemoryGroup() {
        std::error_code error;
        std::filesystem::remove(group_, error);
    }
    MemoryGroup(const MemoryGroup&) = delete;
    MemoryGroup& operator=(const MemoryGroup&) = delete;

    Wrapper wrapper() const {
        return {"/bin/sh", "-c", "echo $$ > " + group_ + "/cgroup.procs; exec \"$@\"", "sh"};
    }
    std::string enter() const { return "echo $$ > " + group_ + "/cgroup.procs"; }

private:
    std::string group_ = kGroups + "/streamsim-test-" + std::to_string(getpid());
};

class CausesInAMemoryGroup : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = no_memory_group_because()) GTEST_SKIP() << *reason;
        if (const auto reason = no_space_because(kMediaBytes)) GTEST_SKIP() << *reason;
    }

    static void make_clips(const std::string& folder) {
        const Finished made =
            streamsim({"prepare", "--quiet", "--prores-hd", "--streams", "6", "--clip-duration", "8s", folder});
        ASSERT_EQ(made.exit_code, 0) << made.text();
    }
    static void play_with_too_little_memory(int times);
    static void play_from_a_slow_disk(int times);
};
class CausesInAMemoryGroupVariants : public CausesInAMemoryGroup {};

void CausesInAMemoryGroup::play_with_too_little_memory(int times) {
    const TempDir media;
    if (shell("stat -f -c %T " + media.path().string()).out == "tmpfs\n")
        GTEST_SKIP() << "temporary files are in memory themselves here";
    make_clips(media.path());
    const MemoryGroup group(90 << 20);
    for (int i = 0; i < times; ++i) {
        const Json result = play_staged({"--prores-hd", "--buffered", "--cold", "--streams", "6", "--readahead",
                                         "1", "--fps", "60", "--duration", "5s"},
                                        media.path(), {}, group.wrapper());
        // A quiet computer with a fast disk makes room in no time: the verdict takes less than 5 % for enough
        // memory.
        const double waited_percent = result["system"].value("memory_pressure_percent", 0.0);
        if (waited_percent < 8)
            GTEST_SKIP() << "the kernel waited for memory in " << waited_percent << " % of the time only";
        EXPECT_EQ(result["verdict"]["limit"], "client-cpu") << result["verdict"];
        EXPECT_THAT(causes_of(result), Contains("client-memory"));
        EXPECT_THAT(sentences_of(result), HasSubstr("too little memory"));
        EXPECT_THAT(sentences_of(result), HasSubstr("the control group of streamsim has 94.4 MB"));
        // 420 MB/s are required, and a disk has moments of its own: they are few.
        int frames = 0;
        int of_disk = 0;
        for (const Json& cause : result["causes"]) {
            EXPECT_NE(cause["limit"], "media") << cause;
            frames += cause["frames"].get<int>();
            if (cause["limit"] == "storage") of_disk += cause["frames"].get<int>();
        }
        EXPECT_LE(of_disk * 10, frames) << result["causes"];
    }
}

void CausesInAMemoryGroup::play_from_a_slow_disk(int times) {
    if (const auto reason = no_throttled_disk_because()) GTEST_SKIP() << *reason;
    const ThrottledDisk disk;
    ASSERT_EQ(disk.problem(), "");
    make_clips(disk.path());
    disk.throttle(18'000'000);
    const MemoryGroup group(120 << 20);  // which the page cache fills
    for (int i = 0; i < times; ++i) {
        const TempDir results;
        const auto play = [&] {
            return disk.streamsim({"--quiet", "--prores-hd", "--buffered", "--cold", "--streams", "2",
                                   "--duration", "4s", "--json", results / "json", disk.path()},
                                  group.enter());
        };
        // The system gives the buffers of the run before back to the group a moment after its end.
        Finished done = play();
        for (int tries = 0; tries < 50 && done.exit_code == 3; ++tries) {
            sleep_ms(100);
            done = play();
        }
        EXPECT_EQ(done.exit_code, 1) << done.text();
        const Json result = read_json(results / "json");
        EXPECT_EQ(result["verdict"]["limit"], "storage") << result["verdict"];
        EXPECT_THAT(causes_of(result), Not(Contains("client-memory")));
    }
}

TEST_F(CausesInAMemoryGroup, TooLittleMemoryIsNotTheStorage) {
    play_with_too_little_memory(1);
}

TEST_F(CausesInAMemoryGroup, ADiskThatIsSlowStaysTheStorage) {
    play_from_a_slow_disk(1);
}

TEST_F(CausesInAMemoryGroupVariants, TooLittleMemoryIsNeverTheStorage) {
    play_with_too_little_memory(3);
}

TEST_F(CausesInAMemoryGroupVariants, ADiskThatIsSlowStaysTheStorageEachTime) {
    play_from_a_slow_disk(3);
}

}  // namespace
}  // namespace streamsim::tests
