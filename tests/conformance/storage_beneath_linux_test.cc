// Links that lead out of LocalOptions::writes_below: other systems make links for some users only.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "conformance/storage_beneath_fixture.h"

namespace streamsim {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::Eq;

constexpr auto kMakeDirectory = PathOp::Kind::make_directory;
constexpr auto kRemove = PathOp::Kind::remove;
constexpr auto kRename = PathOp::Kind::rename;

class LinkConformance : public BeneathConformance {};

TEST_P(LinkConformance, WritesNoFileThatALinkLeadsTo) {
    fs::create_symlink(user_ + "/film", set_ + "/load/symbolic.load");
    fs::create_hard_link(user_ + "/film", set_ + "/load/hard.load");
    fs::create_symlink(user_ + "/new", set_ + "/load/dangling.load");
    for (const Access access : {Access::write, Access::create}) {
        EXPECT_EQ(write_into(set_ + "/load/symbolic.load", access), ELOOP);
        EXPECT_EQ(write_into(set_ + "/load/hard.load", access), EMLINK);
        EXPECT_EQ(write_into(set_ + "/load/dangling.load", access), ELOOP);
    }
    EXPECT_THAT(write_into(set_ + "/load/symbolic.load", Access::create_new), AnyOf(Eq(EEXIST), Eq(ELOOP)));
    EXPECT_EQ(write_into(set_ + "/load/hard.load", Access::create_new), EEXIST);
    EXPECT_EQ(write_into(set_ + "/load/own.load", Access::create_new), 0);
    EXPECT_EQ(write_into(set_ + "/load/own.load", Access::write), 0);
    fs::remove(set_ + "/load/hard.load");
}

TEST_P(LinkConformance, GoesThroughNoDirectoryThatIsALink) {
    fs::create_directory_symlink(user_, set_ + "/recordings");
    fs::create_directory(set_ + "/load/a");
    EXPECT_EQ(write_into(set_ + "/recordings/film", Access::write), ELOOP);
    EXPECT_EQ(write_into(set_ + "/recordings/new", Access::create_new), ELOOP);
    EXPECT_EQ(perform_now(kMakeDirectory, set_ + "/recordings/run"), ELOOP);
    EXPECT_EQ(perform_now(kRemove, set_ + "/recordings/film"), ELOOP);
    EXPECT_EQ(perform_now(kRename, set_ + "/recordings/film", set_ + "/load/film"), ELOOP);
    EXPECT_EQ(perform_now(kRename, set_ + "/load/a", set_ + "/recordings/a"), ELOOP);
    EXPECT_EQ(perform_now(kRemove, set_ + "/load/../../../user/film"), EXDEV);
    EXPECT_EQ(write_into(set_ + "/load/../../../user/film", Access::write), EXDEV);
    EXPECT_EQ(write_into(user_ + "/film", Access::write), EXDEV) << "it is not below the directory";
    EXPECT_EQ(perform_now(kRemove, user_ + "/film"), EXDEV);
    // The files of the set.
    fs::rename(set_, directory_ / "moved");
    fs::create_directory_symlink(user_, set_);
    EXPECT_EQ(write_into(set_ + "/film", Access::write), ELOOP);
    EXPECT_EQ(perform_now(kRemove, set_ + "/film"), ELOOP);
}

TEST_P(LinkConformance, ReadsThroughLinks) {
    fs::create_symlink(user_ + "/film", set_ + "/load/link");
    EXPECT_EQ(try_open(set_ + "/load/link", Access::read), 0) << "media may be reached through links";
}

TEST_P(LinkConformance, WritesIntoNothingThatIsNoFile) {
    ASSERT_EQ(mkfifo((set_ + "/load/fifo").c_str(), 0600), 0);
    for (const Access access : {Access::write, Access::create})
        EXPECT_EQ(write_into(set_ + "/load/fifo", access), EOPNOTSUPP);
}

// A directory is exchanged for a link again and again while files are created, written and removed.
TEST_P(LinkConformance, ADirectoryThatIsExchangedForALinkLeadsNowhere) {
    fs::create_directory(set_ + "/load/d");
    fs::create_directory_symlink(user_, set_ + "/load/link");
    const std::string directory = set_ + "/load/d", link = set_ + "/load/link";
    std::atomic<bool> stop{false};
    std::thread exchanging([&] {
        while (!stop) renameat2(AT_FDCWD, directory.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
    });
    int made = 0;
    for (int i = 0; i < 300; ++i) {
        const std::string own = directory + "/own" + std::to_string(i);
        if (write_into(own, Access::create_new) == 0) ++made;
        (void)write_into(directory + "/film", Access::write);
        (void)perform_now(kRemove, directory + "/film");
        (void)perform_now(kRename, directory + "/film", own);
        (void)perform_now(kRemove, own);
    }
    stop = true;
    exchanging.join();
    EXPECT_GT(made, 0);
}

TEST_P(LinkConformance, RemovesALinkItself) {
    fs::create_symlink(user_ + "/film", set_ + "/load/link");
    EXPECT_EQ(perform_now(kRemove, set_ + "/load/link"), 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, LinkConformance, testing::ValuesIn(local_writers()), name_of);

}  // namespace
}  // namespace streamsim
