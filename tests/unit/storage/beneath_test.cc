// Paths below a trusted directory: no object that other users put there leads elsewhere. The cases run for both
// ways of resolving a path.
#include "storage/local/beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "storage/local/local_writes.h"

namespace streamsim::storage {
namespace {

namespace fs = std::filesystem;

class BeneathTest : public ::testing::TestWithParam<Beneath::Resolve> {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "beneath-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        base_ = name;
        fs::create_directories(base_ / "target/set/clip");
        fs::create_directory(base_ / "elsewhere");
        write(base_ / "elsewhere/precious", "precious");
        fs::create_directory_symlink(base_ / "target", base_ / "link-to-target");
        ASSERT_EQ(Beneath::open((base_ / "link-to-target").string(), root_, GetParam()), 0);
    }
    void TearDown() override {
        EXPECT_EQ(read(base_ / "elsewhere/precious"), "precious");
        fs::remove_all(base_);
    }

    static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
    static std::string read(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    int open_error(const std::string& path, Access access) {
        const OpenedFile opened = root_.open_file(path, access, false);
        if (opened.file >= 0) close(opened.file);
        return opened.error;
    }

    fs::path base_;
    Beneath root_;
};

TEST_P(BeneathTest, MakesOpensRenamesAndRemovesBelowTheRoot) {
    EXPECT_EQ(open_error("set/clip/frame", Access::create_new), 0);
    EXPECT_EQ(open_error("set/clip/frame", Access::create_new), EEXIST);
    EXPECT_EQ(open_error("set/clip/frame", Access::create), 0);
    EXPECT_EQ(open_error("set/clip/frame", Access::read), 0);
    EXPECT_EQ(open_error("set/clip/other", Access::read), ENOENT);
    EXPECT_EQ(root_.make_directory("set/more"), 0);
    EXPECT_EQ(root_.make_directory("set/more"), EEXIST);
    EXPECT_EQ(root_.rename("set/clip/frame", "set/more/frame"), 0);
    EXPECT_EQ(open_error("set/clip/frame", Access::create_new), 0);
    EXPECT_EQ(root_.rename("set/clip/frame", "set/more/frame"), EEXIST);
    EXPECT_EQ(root_.replace("set/clip/frame", "set/more/frame"), 0);
    std::vector<DirectoryEntry> entries;
    ASSERT_EQ(root_.list("set", entries), 0);
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[1].name, "more");
    EXPECT_TRUE(entries[1].directory);
    FileInfo facts;
    ASSERT_EQ(root_.look_at("set/more/frame", facts), 0);
    EXPECT_TRUE(facts.is_regular());
    EXPECT_EQ(facts.links, 1u);
    EXPECT_EQ(root_.remove_directory("set/more"), ENOTEMPTY);
    EXPECT_EQ(root_.remove_file("set/more/frame"), 0);
    EXPECT_NE(root_.remove_file("set/more"), 0);
    EXPECT_EQ(root_.remove_directory("set/more"), 0);
    EXPECT_EQ(root_.sync_directory("."), 0);
}

TEST_P(BeneathTest, FollowsNoLinkBelowTheRoot) {
    fs::create_directory_symlink(base_ / "elsewhere", base_ / "target/set/way");
    fs::create_symlink(base_ / "elsewhere/precious", base_ / "target/set/name");
    for (const Access access : {Access::read, Access::write, Access::create}) {
        EXPECT_EQ(open_error("set/way/precious", access), ELOOP);
        EXPECT_EQ(open_error("set/name", access), ELOOP);
    }
    EXPECT_EQ(open_error("set/way/new", Access::create_new), ELOOP);
    EXPECT_EQ(open_error("set/name", Access::create_new), EEXIST);
    EXPECT_EQ(root_.make_directory("set/way/new"), ELOOP);
    EXPECT_EQ(root_.remove_file("set/way/precious"), ELOOP);
    EXPECT_EQ(root_.rename("set/way/precious", "set/mine"), ELOOP);
    EXPECT_EQ(root_.rename("set/clip", "set/way/clip"), ELOOP);
    EXPECT_EQ(root_.replace("set/clip", "set/name"), ELOOP);
    std::vector<DirectoryEntry> entries;
    EXPECT_NE(root_.list("set/way", entries), 0);
    Beneath inner;
    EXPECT_NE(root_.enter("set/way", inner), 0);
    EXPECT_EQ(root_.remove_file("set/way"), 0);  // the link itself
    EXPECT_FALSE(fs::exists(base_ / "elsewhere/new"));
}

TEST_P(BeneathTest, LeavesTheRootByNoPath) {
    for (const std::string path : {"../elsewhere/precious", "set/../../elsewhere/precious"}) {
        EXPECT_EQ(open_error(path, Access::read), EXDEV) << path;
        EXPECT_EQ(open_error(path, Access::create), EXDEV) << path;
        EXPECT_EQ(root_.remove_file(path), EXDEV) << path;
    }
    FileInfo facts;
    EXPECT_EQ(root_.look_at("..", facts), EXDEV);
    EXPECT_EQ(root_.look_at("set/..", facts), EXDEV);
    EXPECT_EQ(open_error((base_ / "elsewhere/precious").string(), Access::write), EXDEV);
    EXPECT_EQ(root_.remove_file((base_ / "elsewhere/precious").string()), EXDEV);
}

TEST_P(BeneathTest, RefusesAPathWithoutAName) {
    FileInfo facts;
    std::vector<DirectoryEntry> entries;
    for (const std::string path : {"", "/", "//", "/set", "/set/clip", ".."}) {
        EXPECT_LT(root_.open_file(path, Access::read, false).file, 0) << path;
        EXPECT_LT(root_.open_file(path, Access::create, false).file, 0) << path;
        EXPECT_NE(root_.make_directory(path), 0) << path;
        EXPECT_NE(root_.look_at(path, facts), 0) << path;
        EXPECT_NE(root_.list(path, entries), 0) << path;
        EXPECT_NE(root_.remove(path), 0) << path;
        EXPECT_NE(root_.rename("set", path), 0) << path;
    }
    EXPECT_EQ(root_.look_at("", facts), ENOENT);
    EXPECT_EQ(root_.look_at("/set", facts), EXDEV);
    EXPECT_TRUE(fs::is_directory(base_ / "target/set/clip"));
    const Beneath nothing;
    EXPECT_EQ(nothing.open_file("set", Access::read, false).error, EBADF);
    EXPECT_EQ(nothing.make_directory("new"), EBADF);
    EXPECT_EQ(nothing.look_at("set", facts), EBADF);
    EXPECT_EQ(nothing.list("set", entries), EBADF);
}

/// Confined operations fail with the error of the directory; those that only look do not.
TEST(LocalWrites, WithoutTheirDirectoryFail) {
    const LocalWrites writes("/nonexistent/here");
    OpenOp open;
    open.path = "/nonexistent/here/file";
    open.access = Access::create_new;
    EXPECT_EQ(writes.open(open, Access::create_new, false).error, ENOENT);
    PathOp change;
    change.path = open.path;
    for (const PathOp::Kind kind : {PathOp::Kind::make_directory, PathOp::Kind::remove}) {
        change.kind = kind;
        writes.perform(change);
        EXPECT_EQ(change.error, ENOENT);
    }
    change.kind = PathOp::Kind::stat;
    change.path = "/";
    writes.perform(change);
    EXPECT_EQ(change.error, 0);
    EXPECT_EQ(writes.relative("/nonexistent/here/file"), nullptr);
}

TEST_P(BeneathTest, WritesNoFileWithASecondName) {
    fs::create_hard_link(base_ / "elsewhere/precious", base_ / "target/set/hard");
    EXPECT_EQ(open_error("set/hard", Access::write), EMLINK);
    EXPECT_EQ(open_error("set/hard", Access::create), EMLINK);
    EXPECT_EQ(open_error("set/hard", Access::read), 0);
    write(base_ / "target/set/new", "new");
    EXPECT_EQ(root_.replace("set/new", "set/hard"), EMLINK);
}

/// Two names are exchanged again and again; the file of one of them has a second name elsewhere.
TEST_P(BeneathTest, WritesNoFileThatGotItsNameWhileItWasOpened) {
    constexpr int kOpens = 20'000;
    const std::string ours = (base_ / "target/set/ours").string(), hard = (base_ / "target/set/hard").string();
    write(ours, "ours");
    fs::create_hard_link(base_ / "elsewhere/precious", hard);
    struct stat precious {};
    ASSERT_EQ(stat(hard.c_str(), &precious), 0);
    std::atomic<bool> ended = false;
    std::thread exchanges([&] {
        while (!ended) renameat2(AT_FDCWD, ours.c_str(), AT_FDCWD, hard.c_str(), RENAME_EXCHANGE);
    });
    int wrong = 0;
    for (int i = 0; i < kOpens; ++i) {
        const OpenedFile opened =
            root_.open_file("set/ours", i % 2 == 0 ? Access::write : Access::create, false);
        if (opened.file < 0) continue;
        struct stat info {};
        if (fstat(opened.file, &info) != 0 || info.st_ino == precious.st_ino) ++wrong;
        close(opened.file);
    }
    ended = true;
    exchanges.join();
    EXPECT_EQ(wrong, 0);
}

TEST_P(BeneathTest, OpensNoFifoAndNoDirectory) {
    ASSERT_EQ(mkfifo((base_ / "target/set/fifo").c_str(), 0600), 0);
    for (const Access access : {Access::read, Access::write, Access::create}) {
        EXPECT_EQ(open_error("set/fifo", access), EOPNOTSUPP);
        EXPECT_EQ(open_error("set/clip", access), EISDIR);
    }
}

TEST_P(BeneathTest, AnEnteredDirectoryStaysTheSameWhenItsNameIsExchanged) {
    write(base_ / "target/set/clip/frame", "ours");
    write(base_ / "elsewhere/frame", "theirs");
    Beneath clip;
    ASSERT_EQ(root_.enter("set/clip", clip), 0);
    ASSERT_EQ(renameat2(AT_FDCWD, (base_ / "target/set/clip").c_str(), AT_FDCWD, (base_ / "elsewhere").c_str(),
                        RENAME_EXCHANGE),
              0);
    EXPECT_EQ(clip.remove_file("frame"), 0);
    EXPECT_EQ(read(base_ / "target/set/clip/frame"), "theirs");
    EXPECT_FALSE(fs::exists(base_ / "elsewhere/frame"));
    ASSERT_EQ(renameat2(AT_FDCWD, (base_ / "target/set/clip").c_str(), AT_FDCWD, (base_ / "elsewhere").c_str(),
                        RENAME_EXCHANGE),
              0);
}

INSTANTIATE_TEST_SUITE_P(Resolve,
                         BeneathTest,
                         ::testing::Values(Beneath::Resolve::at_once, Beneath::Resolve::by_components),
                         [](const auto& way) {
                             return way.param == Beneath::Resolve::at_once ? "AtOnce" : "ByComponents";
                         });

TEST(BeneathBelow, TakesTheTextAfterTheDirectory) {
    EXPECT_EQ(Beneath::below("/a/b", "/a/b/c/d"), "c/d");
    EXPECT_EQ(Beneath::below("/a/b/", "/a/b//c"), "c");
    EXPECT_EQ(Beneath::below("/", "/c"), "c");
    EXPECT_EQ(Beneath::below("/a/b", "/a/bc"), "");
    EXPECT_EQ(Beneath::below(".", "./c"), "c");
}

TEST(BeneathOpen, HoldsNothingWhereThereIsNoDirectory) {
    Beneath root;
    EXPECT_EQ(Beneath::open("/no/such/directory", root), ENOENT);
    EXPECT_EQ(root.make_directory("x"), EBADF);
}

}  // namespace
}  // namespace streamsim::storage
