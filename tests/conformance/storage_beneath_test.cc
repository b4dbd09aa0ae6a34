// Local backends never change files outside of LocalOptions::writes_below.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "conformance/storage_beneath_fixture.h"

namespace streamsim {
namespace {

namespace fs = std::filesystem;

constexpr auto kMakeDirectory = PathOp::Kind::make_directory;
constexpr auto kRemove = PathOp::Kind::remove;
constexpr auto kRename = PathOp::Kind::rename;

TEST_P(BeneathConformance, DoesByNameWhatIsItsOwn) {
    EXPECT_EQ(perform_now(kMakeDirectory, set_ + "/load/d"), 0);
    EXPECT_EQ(perform_now(kMakeDirectory, set_ + "/load/d"), EEXIST);
    EXPECT_EQ(write_into(set_ + "/load/d/one", Access::create), 0);
    EXPECT_EQ(write_into(set_ + "/load/d/two", Access::create), 0);
    EXPECT_EQ(perform_now(kRename, set_ + "/load/d/one", set_ + "/load/d/two"), 0) << "replaces";
    EXPECT_EQ(perform_now(kRemove, set_ + "/load/d"), ENOTEMPTY);
    EXPECT_EQ(perform_now(kRemove, set_ + "/load/d/two"), 0);
    EXPECT_EQ(perform_now(kRemove, set_ + "/load/d"), 0);
    EXPECT_TRUE(fs::is_empty(set_ + "/load"));
}

TEST_P(BeneathConformance, WritesNothingThatIsNotBelow) {
    fs::create_hard_link(user_ + "/film", set_ + "/load/hard.load");
    for (const Access access : {Access::write, Access::create})
        EXPECT_EQ(write_into(set_ + "/load/hard.load", access), EMLINK);
    EXPECT_EQ(write_into(set_ + "/load/hard.load", Access::create_new), EEXIST);
    fs::remove(set_ + "/load/hard.load");
    EXPECT_EQ(write_into(set_ + "/load/../../../user/film", Access::write), EXDEV);
    EXPECT_EQ(perform_now(kRemove, set_ + "/load/../../../user/film"), EXDEV);
    EXPECT_EQ(write_into(user_ + "/film", Access::write), EXDEV);
    EXPECT_EQ(write_into(user_ + "/new", Access::create_new), EXDEV);
    EXPECT_EQ(perform_now(kMakeDirectory, user_ + "/run"), EXDEV);
    EXPECT_EQ(perform_now(kRemove, user_ + "/film"), EXDEV);
    EXPECT_EQ(write_into(set_ + "/load/own.load", Access::create_new), 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, BeneathConformance, testing::ValuesIn(local_writers()), name_of);

}  // namespace
}  // namespace streamsim
