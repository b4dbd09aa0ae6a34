// Owners of locks: processes that run, that have ended, and that /proc hides.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "run/process/this_process.h"

namespace streamsim::run {
namespace {

TEST(LockOwner, AProcessThatRunsIsNotGone) {
    media::LockOwner owner = this_lock_owner({"streamsim"});
    EXPECT_FALSE(lock_owner_is_gone(owner));
    owner.started += "0";
    EXPECT_TRUE(lock_owner_is_gone(owner)) << "its number is used again";
    owner.machine += "0";
    EXPECT_FALSE(lock_owner_is_gone(owner)) << "of another computer";
}

TEST(LockOwner, AProcessThatHasEndedIsGone) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_GT(child, 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    media::LockOwner owner = this_lock_owner({"streamsim"});
    owner.pid = child;
    EXPECT_TRUE(lock_owner_is_gone(owner));
}

enum Seen : int { kThere, kGone, kNotHidden };

/// Mounts an empty directory over the owner's in /proc, in a namespace of this process.
Seen see_hidden(const media::LockOwner& owner) {
    const std::string hidden = "/proc/" + std::to_string(owner.pid);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", hidden.c_str(), "tmpfs", 0, nullptr) != 0 || std::ifstream(hidden + "/stat"))
        return kNotHidden;
    return lock_owner_is_gone(owner) ? kGone : kThere;
}

TEST(LockOwner, AProcessThatProcHidesIsNotGone) {
    const media::LockOwner owner = this_lock_owner({"streamsim"});
    const pid_t child = fork();
    if (child == 0) _exit(see_hidden(owner));
    ASSERT_GT(child, 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNotHidden) GTEST_SKIP() << "mounting in a namespace needs root";
    EXPECT_EQ(WEXITSTATUS(status), kThere);
}

}  // namespace
}  // namespace streamsim::run
