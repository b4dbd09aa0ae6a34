#include "storage/local/local_options.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storage/local/linux_calls.h"

namespace streamsim::storage {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class DirectPolicyTest : public testing::Test {
protected:
    DirectPolicyTest() {
        options_.notice = [this](const std::string& text) { said_.push_back(text); };
    }

    static DirectAnswer answer(std::uint32_t memory, std::uint32_t offset) {
        struct statx out {};
        out.stx_mask = STATX_DIOALIGN;
        out.stx_dio_mem_align = memory;
        out.stx_dio_offset_align = offset;
        return direct_answer(out, kNoFile);
    }

    LocalOptions options_;
    std::vector<std::string> said_;
};

TEST_F(DirectPolicyTest, ChecksADirectoryOnce) {
    DirectPolicy policy(options_);
    EXPECT_TRUE(policy.plan("/clips/a.mov").direct);
    EXPECT_TRUE(policy.plan("/clips/a.mov").check);
    EXPECT_FALSE(policy.plan("/clips/a.mov").local) << "until it is known";
    policy.checked("/clips/a.mov", answer(512, 512));
    EXPECT_FALSE(policy.plan("/clips/b.mov").check);
    EXPECT_TRUE(policy.plan("/clips/b.mov").local);
    EXPECT_TRUE(policy.plan("/other/b.mov").check);
    EXPECT_TRUE(policy.direct());
    EXPECT_TRUE(said_.empty());
}

TEST_F(DirectPolicyTest, SaysARefusalOnceAndRemembersIt) {
    DirectPolicy policy(options_);
    policy.refused("/clips/a.mov", Access::read, "EINVAL");
    policy.refused("/other/a.mov", Access::read, "EINVAL");
    EXPECT_FALSE(policy.plan("/clips/b.mov").direct);
    EXPECT_TRUE(policy.plan("/third/b.mov").direct);
    EXPECT_FALSE(policy.direct());
    EXPECT_EQ(policy.alignment(), 4096u) << "what was planned with stays";
    EXPECT_THAT(said_, ElementsAre(AllOf(HasSubstr("/clips"), HasSubstr("EINVAL"), HasSubstr("page cache"))));
}

TEST_F(DirectPolicyTest, ObjectsToWhatIsNotReallyDirectOrNotAlignedEnough) {
    DirectPolicy policy(options_);
    EXPECT_EQ(policy.objection(answer(4, 512)), nullptr);
    EXPECT_EQ(policy.objection(answer(512, 4096)), nullptr);
    EXPECT_NE(policy.objection(answer(0, 0)), nullptr);
    EXPECT_NE(policy.objection(answer(4, 65536)), nullptr);
    const struct statx silent {};
    EXPECT_EQ(policy.objection(direct_answer(silent, kNoFile)), nullptr) << "a file system that does not say";
}

TEST_F(DirectPolicyTest, ObjectsToATmpfs) {
    const DirectPolicy policy(options_);
    const int file = memfd_create("clip", 0);  // a file of the kernel's own tmpfs
    ASSERT_GE(file, 0);
    EXPECT_THAT(policy.objection(direct_answer(file)), HasSubstr("in the memory of this computer"));
    close(file);
    const int other = open("/proc/version", O_RDONLY);
    EXPECT_FALSE(direct_answer(other).in_memory);
    close(other);
}

TEST(DirectReads, MayBeAnsweredFromThePageCacheByTheFileSystem) {
    for (const char* type : {"btrfs", "tmpfs"}) EXPECT_TRUE(direct_reads_use_cached_pages(type)) << type;
    for (const char* type : {"ext4", "xfs", "nfs4", ""})
        EXPECT_FALSE(direct_reads_use_cached_pages(type)) << type;
}

TEST_F(DirectPolicyTest, BufferedNeedsNoAlignment) {
    options_.direct = false;
    DirectPolicy policy(options_);
    EXPECT_FALSE(policy.plan("clip").direct);
    EXPECT_FALSE(policy.direct());
    EXPECT_EQ(policy.alignment(), 1u);
    EXPECT_EQ(policy.objection(answer(0, 0)), nullptr);
}

TEST(DirectAlignment, IsWhatStatxSays) {
    EXPECT_EQ(direct_alignment("/nobody/here"), 4096u);
    const auto here = direct_alignment(STREAMSIM_SOURCE_DIR "/README.md");
    EXPECT_EQ(here & (here - 1), 0u);
}

}  // namespace
}  // namespace streamsim::storage
