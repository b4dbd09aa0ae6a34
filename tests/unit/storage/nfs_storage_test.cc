// The NFS storage and the check of its directory, with a server that says what no healthy one says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/storage_harness.h"
#include "loop/uv_loop.h"
#include "storage/backends.h"
#include "unit/storage/scripted_nfs.h"

// libnfs keeps the name that a client of version 4 was given, and what it knows of a path at each link on it.
extern "C" const char* __lsan_default_suppressions();

extern "C" const char* __lsan_default_suppressions() {
    return "leak:libnfs.so\n";
}

namespace streamsim::storage {
namespace {

using namespace tests;
using testing::HasSubstr;
using How = ScriptedReply::How;

constexpr std::uint32_t kFile = 1, kDirectory = 2, kLink = 5;
constexpr std::uint32_t kNoEntry = 2, kInputOutput = 5, kAccess = 13, kStale = 70, kLater = 10008,
                        kExpired = 10011;

XdrWords read_reply3(const std::string& text, bool end) {
    return joined({{0, 0, static_cast<std::uint32_t>(text.size()), end ? 1U : 0U}, text_words(text)});
}

/// A storage in this thread, and its server in another one.
class ScriptedStorage : public testing::Test {
protected:
    ScriptedStorage() {
        place_.host = "127.0.0.1";
        place_.port = place_.mount_port = server_.port();
        place_.timeout = seconds(20);
        place_.version = 3;
        server_.script(ScriptedNfs::mount, kMount, mounted('r'));
        server_.script(ScriptedNfs::nfs, limits3, limits_reply3(65536, 8));
        server_.script(ScriptedNfs::nfs, get_attributes3, attributes_reply3(kDirectory, 4096));
        for (const auto program : {ScriptedNfs::mount, ScriptedNfs::nfs})
            server_.script(program, kNothing, XdrWords{});  // which libnfs asks first
        server_.script(ScriptedNfs::nfs, lookup3, lookup_reply3('f', kFile));
        server_.script(ScriptedNfs::nfs, access3, access_reply3(1 | 4 | 8));
        server_.script(ScriptedNfs::nfs, get_handle4, root_reply4(90, 65536));
        server_.script(ScriptedNfs::nfs, set_client4, client_reply4(7));
        server_.script(ScriptedNfs::nfs, confirm_client4, compound4({{confirm_client4, 0}}));
        thread_ = std::thread([this] {
            while (!ended_) {
                {
                    const std::lock_guard lock(mutex_);
                    server_.pump();
                }
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        });
    }
    ~ScriptedStorage() override {
        if (storage_) harness_.shut_down({});
        ended_ = true;
        thread_.join();
    }

    void on(std::uint32_t procedure, std::vector<ScriptedReply> replies) {
        const std::lock_guard lock(mutex_);
        server_.script(ScriptedNfs::nfs, procedure, std::move(replies));
    }
    void on(std::uint32_t procedure, const std::vector<XdrWords>& words) {
        std::vector<ScriptedReply> replies;
        for (const XdrWords& each : words) replies.push_back({How::comes, each});
        on(procedure, std::move(replies));
    }
    int calls(std::uint32_t procedure) {
        const std::lock_guard lock(mutex_);
        return server_.calls(ScriptedNfs::nfs, procedure);
    }

    /// Why connecting to the directory fails; empty: it does not. The export is the directory above.
    std::string refusal(std::uint32_t version, const std::string& directory) {
        {
            const std::lock_guard lock(mutex_);
            server_.script(ScriptedNfs::mount, kMount,
                           {{How::comes, refused3(kNoEntry)}, {How::comes, mounted('r')}});
        }
        place_.version = version;
        loop::UvLoop loop;
        const auto made = make_nfs_storage(loop, loop.uv(), place_, directory, {});
        if (!made) return made.error().problems.front();
        shut_down_and_wait(loop, **made, {});
        return "";
    }

    void begin(std::uint32_t version) {
        place_.version = version;
        auto made = make_nfs_storage(harness_.loop(), harness_.own_loop().uv(), place_, "/export", {});
        ASSERT_TRUE(made) << made.error().problems.front();
        harness_.use(std::move(*made));
        storage_ = true;
    }
    int open(Access access = Access::read) {
        OpenOp op;
        op.done = settled();
        op.path = "/export/f";
        op.access = access;
        harness_.storage().open(op);
        harness_.loop().run();
        file_ = op.file;
        return op.error;
    }
    int read(std::size_t bytes) {
        into_.assign(bytes, std::byte{0});
        ReadOp op;
        op.done = settled();
        op.file = file_;
        op.buffer = into_;
        harness_.storage().read(op);
        harness_.loop().run();
        got_.assign(reinterpret_cast<const char*>(into_.data()), op.bytes);
        return op.error;
    }
    int write(const std::string& text) {
        WriteOp op;
        op.done = settled();
        op.file = file_;
        op.buffer = std::as_bytes(std::span(text));
        harness_.storage().write(op);
        harness_.loop().run();
        written_ = op.bytes;
        return op.error;
    }
    Callback settled() { return Callback::of<&ScriptedStorage::note_settled>(this); }
    void note_settled() { ++settled_; }
    int sync() {
        SyncOp op;
        op.done = settled();
        op.file = file_;
        harness_.storage().sync(op);
        harness_.loop().run();
        return op.error;
    }

    ScriptedNfs server_;
    RemotePlace place_;
    Harness<loop::UvLoop> harness_;
    bool storage_ = false;
    FileId file_{};
    std::vector<std::byte> into_;
    std::string got_;
    std::uint64_t written_ = 0;
    int settled_ = 0;

private:
    std::mutex mutex_;
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

// ---- its directory

TEST_F(ScriptedStorage, ADirectoryThatMayNotBeEnteredIsNamed) {
    on(lookup3, {refused3(kAccess)});
    EXPECT_THAT(refusal(3, "/export/a"), HasSubstr("permission denied at /export/a: the server refuses user"));
    on(lookup3, {refused3(kInputOutput)});
    EXPECT_THAT(refusal(3, "/export/a"), HasSubstr("/export/a: "));
    on(lookup3, {refused3(kNoEntry)});
    EXPECT_EQ(refusal(3, "/export/a/b"), "") << "what lies below is made later";
    on(lookup4, {refused4(lookup4, kNoEntry)});
    on(open4, {refused4(open4, kNoEntry)});
    EXPECT_THAT(refusal(4, "/export/a"), HasSubstr("no such export")) << "the root is there without any export";
    EXPECT_EQ(refusal(4, "/"), "");
    on(lookup4, {lookup_reply4('d', kDirectory)});
    on(open4, {open_reply4('f', false)});
    on(close4, {compound4({{put_handle4, 0}, {close4, 0, 1, 2, 3, 4}})});
    EXPECT_EQ(refusal(4, "/export/f"), "") << "a file";
    EXPECT_EQ(calls(close4), 1) << "and it is closed";
    place_.timeout = seconds(1);
    on(lookup3, {{How::never, {}}});
    EXPECT_THAT(refusal(3, "/export/a"), HasSubstr("does not answer"));
    on(close4, {{How::never, {}}});
    EXPECT_EQ(refusal(4, "/export/f"), "") << "a close may be lost";
}

TEST_F(ScriptedStorage, AListHasAllOrIsAnError) {
    place_.timeout = milliseconds(800);
    on(limits3, {limits_reply3(65536, 65536)});
    const auto problem = [this] {
        const auto listed = make_nfs_byte_store(place_, "/export")->list("/export");
        return listed ? std::string() : listed.error().problems.front();
    };
    constexpr std::chrono::milliseconds kLate(500);
    on(list_plus3, {{How::comes, list_plus_reply3({"a", "b"}, kFile, 1, false), kLate},
                    {How::comes, list_plus_reply3({"c"}, kFile, 3, true), kLate}});
    EXPECT_EQ(problem(), "") << "each part of it may take the time-out";
    on(list_plus3, {{How::never, {}}});
    EXPECT_THAT(problem(), HasSubstr("no answer from the server"));
    on(list_plus3, {list_plus_reply3({"shots"}, kLink, 1, true)});
    on(lookup3, {{How::never, {}}});
    EXPECT_THAT(problem(), HasSubstr("no answer from the server")) << "the link may lead to a folder";
    on(lookup3, {refused3(kNoEntry)});
    for (const std::uint32_t error : {kNoEntry, kInputOutput, kStale}) {
        on(lookup3, {refused3(error)});
        EXPECT_EQ(problem(), "") << "it leads nowhere";
    }
}

TEST_F(ScriptedStorage, ALinkOfVersion4ThatLeadsToItselfLeadsNowhere) {
    place_.version = 4;
    place_.timeout = milliseconds(800);
    on(get_attributes4, {looked_at4(kDirectory, {get_handle4, 0, 4, 'r'})});  // libnfs asks for the root so
    const auto asked = [this] { return make_nfs_byte_store(place_, "/")->stat("/l"); };
    const XdrWords link = looked_at4(kLink, joined({{read_link4, 0}, text_words("l")}));
    on(lookup4, {link});
    const auto found = asked();
    ASSERT_TRUE(found) << found.error().problems.front();
    EXPECT_TRUE((*found)->symbolic_link && !(*found)->directory);
    on(lookup4, {{How::comes, link}, {How::never, {}}});
    const auto silent = asked();
    ASSERT_FALSE(silent);
    EXPECT_THAT(silent.error().problems.front(), HasSubstr("no answer from the server"));
}

// ---- reads

TEST_F(ScriptedStorage, AReadGoesOnWhereAReplyEnds) {
    ASSERT_NO_FATAL_FAILURE(begin(3));
    ASSERT_EQ(open(), 0);
    on(read3, {read_reply3("abc", false), read_reply3("defgh", false)});
    EXPECT_EQ(read(8), 0);
    EXPECT_EQ(got_, "abcdefgh");
    on(read3, {read_reply3("abc", false), read_reply3("d", true)});
    EXPECT_EQ(read(8), 0);
    EXPECT_EQ(got_, "abcd");
    EXPECT_EQ(read(0), 0);
    on(read3, {refused3(kInputOutput)});
    EXPECT_EQ(read(8), EIO);
    on(read3, {refused3(kLater), read_reply3("abcdefgh", false)});
    EXPECT_EQ(read(8), 0);
    on(read3, {refused3(10029)});
    EXPECT_EQ(read(8), EIO);
    harness_.storage().close(file_);
    EXPECT_EQ(read(8), EBADF);
}

TEST_F(ScriptedStorage, TimeInWhichThisProcessCouldNotRunIsNoTimeOut) {
    struct Busy {
        EventLoop& loop;
        void run() {
            for (const Instant until = loop.now() + milliseconds(500); loop.now() < until;) {
            }
        }
    } busy{harness_.loop()};
    place_.timeout = milliseconds(400);
    ASSERT_NO_FATAL_FAILURE(begin(3));
    ASSERT_EQ(open(), 0);
    on(read3, {refused3(kLater), read_reply3("abcdefgh", false)});
    harness_.loop().at(harness_.loop().now() + milliseconds(20), Callback::of<&Busy::run>(&busy));
    EXPECT_EQ(read(8), 0);
}

TEST_F(ScriptedStorage, AFileThatTheServerForgotIsOpenedAgain) {
    ASSERT_NO_FATAL_FAILURE(begin(3));
    ASSERT_EQ(open(), 0);
    on(lookup3, {lookup_reply3('g', kFile)});
    on(read3, {refused3(kStale), read_reply3("abcdefgh", false)});
    EXPECT_EQ(read(8), 0);
    EXPECT_EQ(got_, "abcdefgh");
    on(read3, {refused3(kStale)});
    EXPECT_EQ(read(8), ESTALE) << "always";
    on(lookup3, {refused3(kNoEntry)});
    on(read3, {refused3(kStale)});
    EXPECT_EQ(read(8), ENOENT) << "it is gone";
}

TEST_F(ScriptedStorage, AFileMayBeClosedWhileItIsOpenedAgain) {
    ASSERT_NO_FATAL_FAILURE(begin(3));
    ASSERT_EQ(open(), 0);
    on(read3, {refused3(kStale)});
    on(lookup3, {{How::never, {}}});
    into_.assign(8, std::byte{0});
    ReadOp op;
    op.done = settled();
    op.file = file_;
    op.buffer = into_;
    harness_.storage().read(op);
    // As soon as it is looked for.
    struct Closing {
        EventLoop& loop;
        std::function<bool()> ended, is_time;
        std::function<void()> close;
        void look() {
            if (ended()) return;
            if (is_time()) return close();
            loop.at(loop.now() + milliseconds(1), Callback::of<&Closing::look>(this));
        }
    } closing{harness_.loop(), [this] { return settled_ > 1; },
              [&, before = calls(lookup3)] { return calls(lookup3) > before; },
              [&] {
                  harness_.storage().cancel(op);
                  harness_.storage().close(file_);
                  on(lookup3, {lookup_reply3('g', kFile)});
              }};
    closing.look();
    harness_.loop().run();
    EXPECT_EQ(op.error, ECANCELED);
    EXPECT_EQ(settled_, 2);
    EXPECT_EQ(open(), 0);
    EXPECT_EQ(read(0), 0);
}

TEST_F(ScriptedStorage, AnExpiredClientOpensItsFilesAgain) {
    on(lookup4, {lookup_reply4('d', kDirectory)});
    on(open4, {open_reply4('f', false)});
    on(close4, {compound4({{put_handle4, 0}, {close4, 0, 1, 2, 3, 4}})});
    ASSERT_NO_FATAL_FAILURE(begin(4));
    ASSERT_EQ(open(), 0);
    const auto data = [](const std::string& text) {
        return compound4({{put_handle4, 0}, joined({{read4, 0, 0}, text_words(text)})});
    };
    on(read4, {refused4(read4, kExpired), data("abcdefgh")});
    EXPECT_EQ(read(8), 0);
    EXPECT_EQ(got_, "abcdefgh");
    on(read4, {refused4(read4, kExpired)});
    EXPECT_EQ(read(8), EIO) << "always";
}

// ---- writes

TEST_F(ScriptedStorage, AWriteGoesOnAndIsSynced) {
    ASSERT_NO_FATAL_FAILURE(begin(3));
    ASSERT_EQ(open(Access::write), 0);
    const auto written = [](std::uint32_t count, std::uint32_t committed, std::uint32_t verifier) {
        return XdrWords{0, 0, 0, count, committed, 0, verifier};
    };
    const auto committed = [](std::uint32_t verifier) { return XdrWords{0, 0, 0, 0, verifier}; };
    on(write3, {written(3, 0, 1), written(5, 0, 1)});
    on(commit3, {committed(1)});
    EXPECT_EQ(write("abcdefgh"), 0);
    EXPECT_EQ(written_, 8U);
    EXPECT_EQ(sync(), 0);
    // The server began anew between the writes, or before the commit: what it had may be lost.
    on(write3, {written(8, 0, 1), written(8, 0, 2)});
    EXPECT_EQ(write("abcdefgh"), 0);
    EXPECT_EQ(write("abcdefgh"), 0);
    on(commit3, {committed(2)});
    EXPECT_EQ(sync(), EIO);
    EXPECT_EQ(sync(), 0) << "told once";
    on(write3, {written(8, 0, 2)});
    EXPECT_EQ(write("abcdefgh"), 0);
    on(commit3, {committed(3)});
    EXPECT_EQ(sync(), EIO);
    on(write3, {written(8, 2, 9)});
    EXPECT_EQ(write("abcdefgh"), 0);
    EXPECT_EQ(sync(), 0) << "on stable storage at once";
    on(commit3, {refused3(kStale)});
    EXPECT_EQ(sync(), ESTALE);
    on(commit3, {refused3(kLater), committed(3)});
    EXPECT_EQ(sync(), 0);
    on(write3, {refused3(28)});
    EXPECT_EQ(write("abcdefghijklmnop"), ENOSPC);
    EXPECT_EQ(written_, 0U);
    // The handle that the writes had is gone, and no commit reaches it.
    on(write3, {written(8, 0, 3)});
    EXPECT_EQ(write("abcdefgh"), 0);
    on(write3, {refused3(kStale), written(8, 0, 3)});
    EXPECT_EQ(write("abcdefgh"), 0);
    EXPECT_EQ(sync(), EIO);
}

}  // namespace
}  // namespace streamsim::storage
