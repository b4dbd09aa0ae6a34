// Locks of media sets where the storage has none of its own: lease files. The store of these tests has none.
#include "media/write/media_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <filesystem>
#include <functional>
#include <thread>

#include "media/own_files/own_names.h"
#include "media/write/media_lease.h"
#include "media/write/media_set.h"
#include "media/write/media_set_names.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

namespace fs = std::filesystem;
using testing::DirectoryStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Place;
using ::testing::SizeIs;

class MediaLockTest : public ::testing::Test {
protected:
    MediaLockTest() {
        store_->tells_times = true;
        EXPECT_TRUE(ensure_marker(*store_, root_));
    }

    MediaLockRequest request(LockMode mode, std::int64_t pid = 4711) const {
        LockOwner owner;
        owner.host = "edit3";
        owner.pid = pid;
        owner.command = "streamsim prepare /mnt/media";
        owner.since = "2026-11-22T15:04:05Z";
        return {root_, kSetLock, mode, owner, {}};
    }
    MediaLockAttempt attempt(const MediaLockRequest& wanted) const {
        auto tried = try_media_lock(store_, wanted);
        EXPECT_TRUE(tried) << (tried ? "" : tried.error().problems.front());
        return tried ? std::move(*tried) : MediaLockAttempt{};
    }
    MediaLockAttempt attempt(LockMode mode, std::int64_t pid = 4711) const {
        return attempt(request(mode, pid));
    }
    std::vector<std::string> leases() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(root_)) {
            if (is_lease_name(entry.path().filename().string())) names.push_back(entry.path().string());
        }
        return names;
    }
    void make_older(std::int64_t seconds) const {
        for (const std::string& lease : leases())
            fs::last_write_time(lease, fs::last_write_time(lease) - std::chrono::seconds(seconds));
    }
    MediaLockRequest renewed_often(LockMode mode) const {
        MediaLockRequest wanted = request(mode);
        wanted.lease_renewal = milliseconds(5);
        return wanted;
    }
    static bool within_10_s(const std::function<bool()>& holds) {
        for (int i = 0; i < 2000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return holds();
    }
    static std::optional<Error> lost_connection(bool lost) {
        return lost ? std::optional(environment_error("the connection was lost")) : std::nullopt;
    }
    static std::optional<Error> no_room(bool full) {
        Error error = environment_error("No space left on device");
        error.no_room = true;
        return full ? std::optional(error) : std::nullopt;
    }
    /// The first removal of the lease with this number fails. A later renewal removes it.
    void expect_removed_later(const std::string& number) {
        const auto is_it = [&number](const std::string& path) {
            return path.find(number) != std::string::npos;
        };
        std::atomic<int> removals = 0;
        store_->on_remove = [&](const std::string& path) {
            return lost_connection(is_it(path) && removals++ == 0);
        };
        auto held = attempt(renewed_often(LockMode::exclusive));
        ASSERT_NE(held.lock, nullptr);
        EXPECT_TRUE(within_10_s([&] {
            const auto there = leases();
            return removals > 0 && std::none_of(there.begin(), there.end(), is_it);
        }));
        EXPECT_FALSE(held.lock->lost());
        held.lock.reset();
        store_->on_remove = nullptr;
    }

    Place place_;
    std::shared_ptr<DirectoryStore> store_ = std::make_shared<DirectoryStore>();
    const std::string root_ = media_root(place_.path());
};

TEST_F(MediaLockTest, PlaysGoTogetherAndPrepareIsAlone) {
    auto one = attempt(LockMode::shared);
    auto two = attempt(LockMode::shared);
    ASSERT_NE(one.lock, nullptr);
    ASSERT_NE(two.lock, nullptr);
    const auto alone = attempt(LockMode::exclusive);
    EXPECT_EQ(alone.lock, nullptr);
    EXPECT_THAT(alone.held_by, HasSubstr("\"streamsim prepare /mnt/media\" (process 4711 on host edit3, since "
                                         "2026-11-22T15:04:05Z)"));
    EXPECT_THAT(leases(), SizeIs(2)) << "the refused one left its lease";
    one.lock.reset();
    two.lock.reset();
    EXPECT_THAT(leases(), IsEmpty());
    const auto held = attempt(LockMode::exclusive);
    ASSERT_NE(held.lock, nullptr);
    EXPECT_EQ(attempt(LockMode::shared).lock, nullptr);
    EXPECT_EQ(attempt(LockMode::exclusive).lock, nullptr);
}

TEST_F(MediaLockTest, ExclusiveBecomesSharedWithoutAGap) {
    auto held = attempt(LockMode::exclusive);
    ASSERT_NE(held.lock, nullptr);
    const auto changed = held.lock->change(LockMode::shared);
    EXPECT_TRUE(changed && *changed);
    EXPECT_EQ(attempt(LockMode::exclusive).lock, nullptr);
    auto other = attempt(LockMode::shared);
    ASSERT_NE(other.lock, nullptr);
    const auto back = held.lock->change(LockMode::exclusive);
    EXPECT_TRUE(back && !*back) << "another plays";
    EXPECT_THAT(leases(), SizeIs(2));
    other.lock.reset();
    const auto alone = held.lock->change(LockMode::exclusive);
    EXPECT_TRUE(alone && *alone);
}

TEST_F(MediaLockTest, ALeaseIsTakenOverOnlyWhenItIsOlderThanAMinute) {
    auto holder = attempt(LockMode::exclusive);
    ASSERT_NE(holder.lock, nullptr);
    make_older(kLeaseAgeMaxSeconds - 5);
    EXPECT_EQ(attempt(LockMode::shared).lock, nullptr);
    make_older(10);
    const auto next = attempt(LockMode::shared);
    ASSERT_NE(next.lock, nullptr);
    ASSERT_THAT(next.notices, SizeIs(1));
    EXPECT_THAT(next.notices.front(), HasSubstr("took over the lease of \"streamsim prepare /mnt/media\""));
    EXPECT_THAT(leases(), SizeIs(1));
}

TEST_F(MediaLockTest, AHolderOfThisComputerThatIsGoneIsNotWaitedFor) {
    auto holder = attempt(LockMode::exclusive, 4712);
    MediaLockRequest wanted = request(LockMode::exclusive);
    wanted.is_gone = [](const LockOwner& owner) { return owner.pid == 4711; };
    EXPECT_EQ(attempt(wanted).lock, nullptr);
    wanted.is_gone = [](const LockOwner& owner) { return owner.pid == 4712; };
    EXPECT_NE(attempt(wanted).lock, nullptr);
}

TEST_F(MediaLockTest, ALeaseIsRenewedAndItsLossIsNoticed) {
    const auto held = attempt(renewed_often(LockMode::shared));
    ASSERT_NE(held.lock, nullptr);
    const auto is_renewed = [this] {
        const auto there = leases();
        return !there.empty() && there.front().find("-00000001.") == std::string::npos;
    };
    EXPECT_TRUE(within_10_s(is_renewed));
    EXPECT_FALSE(held.lock->lost());
    EXPECT_TRUE(within_10_s([&] {
        for (const std::string& lease : leases()) fs::remove(lease);
        return held.lock->lost();
    }));
}

/// The other process has found the lease too old, and has removed it after the holder looked for it.
TEST_F(MediaLockTest, ATakeoverDuringARenewalIsNoticed) {
    const std::string foreign = "streamsim-media/streamsim-media.exclusive-00000000000000aa-00000001.lease";
    store_->on_write = [&](const std::string& path) {
        if (path.find("-00000002.") == std::string::npos) return;
        for (const std::string& lease : leases()) {
            if (lease != path) fs::remove(lease);
        }
        place_.write(foreign, request(LockMode::exclusive, 4712).owner.to_note() + "\n");
    };
    const auto held = attempt(renewed_often(LockMode::shared));
    ASSERT_NE(held.lock, nullptr);
    EXPECT_TRUE(within_10_s([&] { return held.lock->lost(); }));
    const auto same = held.lock->change(LockMode::shared), alone = held.lock->change(LockMode::exclusive);
    EXPECT_TRUE(same && !*same) << "not even the mode that it had";
    EXPECT_TRUE(alone && !*alone);
    EXPECT_THAT(leases(), ElementsAre(place_.at(foreign)));
}

/// The holder has written its next lease after the other process looked for leases.
TEST_F(MediaLockTest, ARenewalDuringATakeoverKeepsTheLock) {
    const auto holder = attempt(LockMode::exclusive);
    ASSERT_NE(holder.lock, nullptr);
    ASSERT_THAT(leases(), SizeIs(1));
    const std::string first = leases().front();
    std::string next = first;
    next.replace(next.find("-00000001."), 10, "-00000002.");
    MediaLockRequest wanted = request(LockMode::exclusive, 4712);
    wanted.is_gone = [&](const LockOwner&) {
        const bool renews = !fs::exists(next);
        if (renews) fs::copy_file(first, next);
        return renews;
    };
    EXPECT_EQ(attempt(wanted).lock, nullptr);
    EXPECT_THAT(leases(), ElementsAre(next));
}

/// The connection fails after the new lease was created, so that it can be neither written nor removed.
TEST_F(MediaLockTest, ARenewalThatFailedHalfwayIsFollowedByOthers) {
    store_->on_create = [](const std::string& path) {
        const bool fails = path.find("-00000002.") != std::string::npos;
        if (fails) fs::remove(path);
        if (fails) fs::create_directories(path + "/cannot be removed");
        return lost_connection(fails);
    };
    auto held = attempt(renewed_often(LockMode::exclusive));
    ASSERT_NE(held.lock, nullptr);
    EXPECT_TRUE(within_10_s([this] {
        const auto there = leases();
        return std::any_of(there.begin(), there.end(), [](const std::string& lease) {
            return lease.find("-00000001.") == std::string::npos &&
                   lease.find("-00000002.") == std::string::npos;
        });
    }));
    EXPECT_FALSE(held.lock->lost());
    held.lock.reset();
    EXPECT_THAT(leases(), ElementsAre(HasSubstr("-00000002."))) << "which nobody could remove";
}

TEST_F(MediaLockTest, TheFileOfAFailedRenewalGoesWithTheNext) {
    store_->on_create = [](const std::string& path) {
        return lost_connection(path.find("-00000002.") != std::string::npos);
    };
    expect_removed_later("-00000002.");
}

TEST_F(MediaLockTest, AnOldLeaseThatCannotBeRemovedAtOnceGoesWithTheNextRenewal) {
    expect_removed_later("-00000001.");
}

TEST_F(MediaLockTest, TheFilesOfFailedRenewalsGoWithTheLock) {
    std::atomic<bool> reachable = false;
    store_->on_create = [](const std::string& path) {
        return lost_connection(path.find("-00000001.") == std::string::npos);
    };
    store_->on_remove = [&reachable](const std::string&) { return lost_connection(!reachable); };
    auto held = attempt(renewed_often(LockMode::exclusive));
    ASSERT_NE(held.lock, nullptr);
    EXPECT_TRUE(within_10_s([this] { return leases().size() >= 3; }));
    reachable = true;
    held.lock.reset();
    EXPECT_THAT(leases(), IsEmpty());
}

TEST_F(MediaLockTest, ALeaseThatCannotBeWrittenIsNotLeftBehind) {
    store_->on_create = [](const std::string&) { return lost_connection(true); };
    for (const LockMode mode : {LockMode::shared, LockMode::exclusive}) {
        const auto tried = try_media_lock(store_, request(mode));
        EXPECT_TRUE(mode == LockMode::shared || !tried);
        EXPECT_THAT(leases(), IsEmpty()) << "not even a file whose creation was not answered";
    }
    store_->on_create = nullptr;
    auto held = attempt(LockMode::exclusive);
    ASSERT_NE(held.lock, nullptr);
    const auto before = leases();
    store_->on_create = [](const std::string&) { return lost_connection(true); };
    EXPECT_FALSE(held.lock->change(LockMode::shared));
    EXPECT_EQ(leases(), before);
}

/// clean is what makes room.
TEST_F(MediaLockTest, OnAFullStorageALeaseIsEmpty) {
    store_->room = 0;
    auto held = attempt(renewed_often(LockMode::exclusive));
    ASSERT_NE(held.lock, nullptr);
    EXPECT_THAT(held.notices, IsEmpty());
    EXPECT_TRUE(within_10_s([this] {
        const auto there = leases();
        return !there.empty() && there.front().find("-00000001.") == std::string::npos;
    })) << "it is renewed";
    for (const LockMode mode : {LockMode::shared, LockMode::exclusive}) {
        const auto refused = attempt(mode);
        EXPECT_EQ(refused.lock, nullptr);
        EXPECT_THAT(refused.held_by, HasSubstr("another streamsim, which may not write its name there, uses"));
    }
    EXPECT_FALSE(held.lock->lost());
    const auto changed = held.lock->change(LockMode::shared);
    EXPECT_TRUE(changed && *changed);
    held.lock.reset();
    EXPECT_THAT(leases(), IsEmpty()) << "those of the refused ones are gone, too";
}

TEST_F(MediaLockTest, ASharedLeaseIsTriedTwiceAndItsAbsenceIsTold) {
    int creations = 0, failing = 1;
    store_->on_create = [&](const std::string&) { return lost_connection(++creations <= failing); };
    const auto second = attempt(LockMode::shared);
    ASSERT_NE(second.lock, nullptr);
    EXPECT_THAT(second.notices, IsEmpty());
    EXPECT_THAT(leases(), SizeIs(1));
    EXPECT_EQ(attempt(LockMode::exclusive).lock, nullptr);
    failing = INT_MAX;
    const auto none = attempt(LockMode::shared);
    ASSERT_NE(none.lock, nullptr);
    EXPECT_THAT(none.notices, ElementsAre(HasSubstr("no lease can be written")));
}

/// One has the set on a local disk, with a lock of the kernel, and the other over a network.
TEST_F(MediaLockTest, AServerAndItsClientsSeeEachOther) {
    for (const bool local : {false, true}) {
        for (const LockMode first : {LockMode::shared, LockMode::exclusive}) {
            store_->has_locks = local;
            auto held = attempt(first);
            ASSERT_NE(held.lock, nullptr);
            store_->has_locks = !local;
            const auto refused = attempt(LockMode::exclusive);
            EXPECT_EQ(refused.lock, nullptr);
            EXPECT_THAT(refused.held_by, HasSubstr("process 4711 on host edit3"));
            EXPECT_EQ(attempt(LockMode::shared).lock != nullptr, first == LockMode::shared);
            held.lock.reset();
            EXPECT_THAT(leases(), IsEmpty());
        }
    }
}

TEST_F(MediaLockTest, ALockOfTheKernelAndItsLeaseChangeTogether) {
    store_->has_locks = true;
    auto held = attempt(renewed_often(LockMode::exclusive));
    ASSERT_NE(held.lock, nullptr);
    const auto changed = held.lock->change(LockMode::shared);
    EXPECT_TRUE(changed && *changed);
    EXPECT_EQ(store_->locked, LockMode::shared);
    store_->has_locks = false;
    auto client = attempt(LockMode::shared);
    ASSERT_NE(client.lock, nullptr);
    const auto back = held.lock->change(LockMode::exclusive);
    EXPECT_TRUE(back && !*back);
    EXPECT_EQ(store_->locked, LockMode::shared);
    client.lock.reset();
    const auto alone = held.lock->change(LockMode::exclusive);
    EXPECT_TRUE(alone && *alone);
    EXPECT_EQ(store_->locked, LockMode::exclusive);
    EXPECT_TRUE(within_10_s([&] {
        for (const std::string& lease : leases()) fs::remove(lease);
        return held.lock->lost();
    }));
}

/// Its lock has ended with it. Clients wait until its lease is old, which is empty where the disk was full.
TEST_F(MediaLockTest, TheLeaseOfAKilledHolderOfTheKernelsLockKeepsNoLocalRunOut) {
    for (const std::string& note : {request(LockMode::exclusive, 4712).owner.to_note() + "\n", std::string()}) {
        for (const char* mode : {"localexclusive", "localshared"}) {
            place_.write(
                "streamsim-media/streamsim-media." + std::string(mode) + "-00000000000000aa-00000001.lease",
                note);
            store_->has_locks = false;
            EXPECT_EQ(attempt(LockMode::exclusive).lock, nullptr) << "a client";
            store_->has_locks = true;
            const auto held = attempt(LockMode::exclusive);
            ASSERT_NE(held.lock, nullptr) << mode;
            EXPECT_THAT(held.notices, IsEmpty());
            EXPECT_THAT(leases(), ElementsAre(HasSubstr(".localexclusive-")));
        }
    }
}

TEST_F(MediaLockTest, WhereNoFileCanBeMadeALocalRunHasTheLockAlone) {
    std::atomic<bool> full = true;
    std::atomic<int> made = 0;
    store_->has_locks = true;
    store_->on_create = [&](const std::string&) {
        if (!full) ++made;
        return no_room(full);
    };
    auto held = attempt(renewed_often(LockMode::exclusive));
    ASSERT_NE(held.lock, nullptr);
    for (const LockMode mode : {LockMode::shared, LockMode::exclusive}) {
        const auto changed = held.lock->change(mode);
        EXPECT_TRUE(changed && *changed);
        EXPECT_EQ(store_->locked, mode);
    }
    full = false;
    EXPECT_TRUE(within_10_s([&] { return made >= 2; })) << "there is room for a lease, which is renewed";
    store_->has_locks = false;
    EXPECT_EQ(attempt(LockMode::shared).lock, nullptr);
    EXPECT_FALSE(held.lock->lost());
    held.lock.reset();
    const auto client = attempt(LockMode::shared);
    ASSERT_NE(client.lock, nullptr);
    store_->has_locks = true;
    full = true;
    EXPECT_EQ(attempt(LockMode::exclusive).lock, nullptr) << "the lease of a client is seen";
}

TEST_F(MediaLockTest, ALocalSetThatMayNotBeWrittenIsPlayedWithTheLockAlone) {
    store_->has_locks = true;
    store_->on_create = [](const std::string&) { return lost_connection(true); };
    const auto held = attempt(LockMode::shared);
    ASSERT_NE(held.lock, nullptr);
    EXPECT_THAT(held.notices, IsEmpty());
    const auto changed = held.lock->change(LockMode::exclusive);
    EXPECT_TRUE(changed && *changed);
    EXPECT_EQ(store_->locked, LockMode::exclusive) << "the lock of the kernel";
}

TEST_F(MediaLockTest, WorkingSetsHaveLocksOfTheirOwn) {
    const auto set = attempt(LockMode::shared);
    MediaLockRequest load = request(LockMode::exclusive);
    load.name = kLoadLockPrefix + std::string("oltp-8x1048576");
    const auto held = attempt(load);
    EXPECT_NE(held.lock, nullptr);
    const auto refused = attempt(load);
    EXPECT_EQ(refused.lock, nullptr);
    EXPECT_THAT(refused.held_by, HasSubstr("streamsim-media/load, oltp-8x1048576: \"streamsim prepare"));
}

TEST_F(MediaLockTest, ADirectoryOfOthersGetsNoLock) {
    fs::remove(root_ + "/" + kMarkerName);
    place_.write("streamsim-media/mine", "kept");
    EXPECT_FALSE(try_media_lock(store_, request(LockMode::exclusive)));
    EXPECT_FALSE(try_media_lock(store_, request(LockMode::shared)));
    EXPECT_THAT(place_.files(), ElementsAre("streamsim-media/mine"));
    fs::remove_all(place_.path());
    EXPECT_FALSE(try_media_lock(store_, request(LockMode::shared)));
    EXPECT_FALSE(fs::exists(place_.path()));
    fs::create_directories(place_.path());
}

TEST_F(MediaLockTest, ASetWithoutMediaGoesWithItsLastLock) {
    auto one = attempt(LockMode::shared);
    auto two = attempt(LockMode::shared);
    EXPECT_TRUE(release_media_lock(*store_, root_, std::move(one.lock)));
    EXPECT_TRUE(fs::exists(root_ + "/" + kMarkerName)) << "another uses it";
    place_.write("streamsim-media/load-a-1x65536.exclusive-00000000000000aa-00000001.lease",
                 "{}");  // of a killed run
    EXPECT_TRUE(release_media_lock(*store_, root_, std::move(two.lock)));
    EXPECT_FALSE(fs::exists(root_));
    auto next = attempt(LockMode::shared);
    place_.write("streamsim-media/dpx12/format.json", "{}");
    EXPECT_TRUE(release_media_lock(*store_, root_, std::move(next.lock)));
    EXPECT_TRUE(fs::exists(root_ + "/dpx12/format.json"));
}

TEST_F(MediaLockTest, ALeaseThatKeepsASetWithoutMediaIsTold) {
    int removals = 0;
    store_->on_remove = [&removals](const std::string& path) {
        return lost_connection(is_lease_name(fs::path(path).filename().string()) && removals++ < 2);
    };
    const auto release = [this] {
        auto held = attempt(LockMode::exclusive);
        return release_media_lock(*store_, root_, std::move(held.lock));
    };
    const auto left = release();
    ASSERT_FALSE(left);
    EXPECT_THAT(left.error().problems, ElementsAre(HasSubstr("the connection was lost")));
    EXPECT_THAT(leases(), SizeIs(1));
    fs::remove(leases().front());
    removals = 1;  // the one with the lock fails, the next does not
    EXPECT_TRUE(release());
    EXPECT_FALSE(fs::exists(root_));
}

TEST_F(MediaLockTest, AFileWithTheNameOfALockMayBeSomebodyElses) {
    place_.write("streamsim-media/load-of-hay.lock", "mine");
    auto held = attempt(LockMode::shared);
    EXPECT_TRUE(release_media_lock(*store_, root_, std::move(held.lock)));
    EXPECT_EQ(place_.read("streamsim-media/load-of-hay.lock"), "mine");
}

TEST(LockOwnerTest, FitsIntoANoteWhateverTheCommandIs) {
    LockOwner owner;
    owner.pid = 17;
    owner.host = std::string(300, '\xff');
    owner.command = "streamsim \x1b[31m" + std::string(5000, '"');
    const std::string note = owner.to_note();
    EXPECT_LE(note.size(), kLockNoteBytesMax);
    EXPECT_EQ(note.find('\n'), std::string::npos);
    EXPECT_EQ(LockOwner::parse(note).pid, 17);
    EXPECT_EQ(LockOwner::parse(note).command.find('\x1b'), std::string::npos);
    for (const char* text : {"", "{", "[]", "{\"pid\":\"x\"}", "{\"pid\":1,\"host\":7}"})
        EXPECT_TRUE(LockOwner::parse(text).host.empty()) << text;
}

}  // namespace
}  // namespace streamsim::media
