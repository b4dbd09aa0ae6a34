// Locks on lock files of this computer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "storage/local/local_byte_store.h"

namespace streamsim::storage {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using Outcome = LockAttempt::Outcome;

class LocalLockTest : public testing::Test {
protected:
    LocalLockTest() { EXPECT_NE(mkdtemp(root_.data()), nullptr); }
    ~LocalLockTest() override { fs::remove_all(root_); }
    void SetUp() override {
        if (try_lock("probe", LockMode::shared).outcome == Outcome::unsupported)
            GTEST_SKIP() << "the file system of /tmp is not known to have locks that all see";
    }

    LockAttempt try_lock(const std::string& name, LockMode mode, const std::string& note = "me") {
        auto tried = store_->try_lock(root_ + "/" + name, mode, note);
        EXPECT_TRUE(tried) << (tried ? "" : tried.error().problems.front());
        return tried ? std::move(*tried) : LockAttempt{};
    }

    std::string root_ = "/tmp/streamsim-lock-XXXXXX";
    std::unique_ptr<ByteStore> store_ = make_local_byte_store();
};

TEST_F(LocalLockTest, SharedGoesTogetherExclusiveDoesNotAndSaysWho) {
    auto one = try_lock("lock", LockMode::shared, "first");
    auto two = try_lock("lock", LockMode::shared, "second");
    EXPECT_EQ(one.outcome, Outcome::held);
    EXPECT_EQ(two.outcome, Outcome::held);
    const auto refused = try_lock("lock", LockMode::exclusive);
    EXPECT_EQ(refused.outcome, Outcome::refused);
    EXPECT_THAT(refused.notes, ElementsAre("first", "second"));
    one.lock.reset();
    EXPECT_THAT(try_lock("lock", LockMode::exclusive).notes, ElementsAre("second"));
    const auto alone = two.lock->change(LockMode::exclusive);
    EXPECT_TRUE(alone && *alone);
    EXPECT_EQ(try_lock("lock", LockMode::shared).outcome, Outcome::refused);
    const auto shared = two.lock->change(LockMode::shared);
    EXPECT_TRUE(shared && *shared);
    EXPECT_EQ(try_lock("lock", LockMode::shared).outcome, Outcome::held);
}

TEST_F(LocalLockTest, ALockEndsWithAProcessThatIsKilled) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto held = store_->try_lock(root_ + "/lock", LockMode::exclusive, "child");
        (void)!write(ready[1], held && held->lock ? "y" : "n", 1);
        pause();
        _exit(0);
    }
    char answer = 0;
    ASSERT_EQ(read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    EXPECT_THAT(try_lock("lock", LockMode::shared).notes, ElementsAre("child"));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(try_lock("lock", LockMode::exclusive).outcome, Outcome::held);
    close(ready[0]);
    close(ready[1]);
}

TEST_F(LocalLockTest, AFileThatIsRemovedUnderItsLockIsMadeAnew) {
    auto old = try_lock("lock", LockMode::exclusive, "old");
    fs::remove(root_ + "/lock");
    const auto held = try_lock("lock", LockMode::shared, "new");
    EXPECT_EQ(held.outcome, Outcome::held);
    old.lock.reset();
    EXPECT_THAT(try_lock("lock", LockMode::exclusive).notes, ElementsAre("new"));
}

/// As clean does: the file is removed by whoever holds it. Nobody then holds a file that has lost its name.
TEST_F(LocalLockTest, AFileThatIsRemovedWhileItIsOpenedIsHeldByNobody) {
    constexpr int kAttempts = 3'000;
    std::atomic<bool> ended = false;
    std::thread cleans([&] {
        while (!ended) {
            auto held = store_->try_lock(root_ + "/lock", LockMode::exclusive, "clean");
            if (held && held->outcome == Outcome::held) fs::remove(root_ + "/lock");
        }
    });
    int both = 0;
    for (int i = 0; i < kAttempts; ++i) {
        const auto one = store_->try_lock(root_ + "/lock", LockMode::exclusive, "one");
        if (!one || one->outcome != Outcome::held) continue;
        const auto two = store_->try_lock(root_ + "/lock", LockMode::exclusive, "two");
        both += two && two->outcome == Outcome::held ? 1 : 0;
    }
    ended = true;
    cleans.join();
    EXPECT_EQ(both, 0);
}

TEST_F(LocalLockTest, FilesOfOthersAreLeftAlone) {
    std::ofstream(root_ + "/mine") << "a user's";
    fs::create_symlink("mine", root_ + "/link");
    fs::create_symlink("nothing", root_ + "/dangling");
    fs::create_hard_link(root_ + "/mine", root_ + "/twin");
    fs::create_directory(root_ + "/directory");
    ASSERT_EQ(mkfifo((root_ + "/fifo").c_str(), 0666), 0);
    std::ofstream(root_ + "/empty").flush();
    for (const char* name : {"empty", "mine", "link", "dangling", "twin", "fifo", "directory"}) {
        const auto refused = store_->try_lock(root_ + "/" + name, LockMode::exclusive, "note");
        ASSERT_FALSE(refused) << name;
        EXPECT_THAT(refused.error().problems.front(), testing::HasSubstr("is left alone")) << name;
    }
    try_lock("lock", LockMode::shared).lock.reset();
    fs::create_hard_link(root_ + "/lock", root_ + "/second");
    EXPECT_FALSE(store_->try_lock(root_ + "/second", LockMode::exclusive, "note"))
        << "it may be anything's name";
    EXPECT_FALSE(fs::exists(root_ + "/nothing"));
    EXPECT_EQ(fs::file_size(root_ + "/empty"), 0u);
    std::ifstream in(root_ + "/mine");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "a user's");
    fs::create_directory(root_ + "/elsewhere");
    fs::create_directory_symlink("elsewhere", root_ + "/set");
    EXPECT_FALSE(store_->try_lock(root_ + "/set/lock", LockMode::exclusive, "note"));
    EXPECT_TRUE(fs::is_empty(root_ + "/elsewhere"));
}

TEST_F(LocalLockTest, AFileHasItsHeaderBeforeItHasItsName) {
    fs::remove(root_ + "/probe");
    auto held = try_lock("lock", LockMode::exclusive);
    std::ifstream in(root_ + "/lock");
    std::string header;
    std::getline(in, header);
    EXPECT_EQ(header, "streamsim lock file, version 1");
    EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1) << "and nothing is left beside it";
}

TEST_F(LocalLockTest, WhoMayOnlyReadSharesAndLeavesNoNote) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
    try_lock("lock", LockMode::shared).lock.reset();
    fs::permissions(root_ + "/lock", fs::perms(0644));
    fs::permissions(root_, fs::perms(0755));
    const pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0) _exit(9);
        const auto shared = store_->try_lock(root_ + "/lock", LockMode::shared, "reader");
        const bool unlocked =
            store_->try_lock(root_ + "/other", LockMode::shared, "reader")->outcome == Outcome::unsupported;
        _exit(shared && shared->outcome == Outcome::held && unlocked ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(fs::exists(root_ + "/other"));
}

}  // namespace
}  // namespace streamsim::storage
