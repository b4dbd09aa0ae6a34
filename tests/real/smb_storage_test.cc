// The SMB storage when its server, its processes and its files go away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <filesystem>
#include <fstream>

#include "conformance/storage_backends.h"
#include "conformance/storage_harness.h"
#include "loop/uv_loop.h"
#include "real/smb_lab.h"
#include "storage/backends.h"

namespace streamsim {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;

std::vector<pid_t> children() {
    std::vector<pid_t> found;
    std::ifstream list("/proc/self/task/" + std::to_string(gettid()) + "/children");
    for (pid_t pid = 0; list >> pid;) {
        std::string name;
        std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
        if (name == "streamsim-smb") found.push_back(pid);
    }
    return found;
}

/// A process that is stopped, and goes on later.
struct Stopped {
    pid_t process;
    explicit Stopped(pid_t pid) : process(pid) { kill(process, SIGSTOP); }
    void go_on() { kill(process, SIGCONT); }
};

struct Cancellation {
    Storage& storage;
    Op& op;
    void now() { storage.cancel(op); }
};

class SmbStorageTest : public testing::Test {
protected:
    void begin(std::uint32_t connections, Duration timeout) {
        RemotePlace place = tests::smb_place(connections);
        place.timeout = timeout;
        begin(place);
    }
    void begin(const RemotePlace& place) {
        storage::RemoteOptions options;
        options.credentials = tests::smb_user();
        options.notice = [this](const std::string& notice) { notices_.push_back(notice); };
        auto storage =
            storage::make_smb_storage(harness_.loop(), harness_.own_loop().uv(), place, "/media", options);
        ASSERT_TRUE(storage) << storage.error().problems.front();
        harness_.use(std::move(*storage));
        write_test_file(directory_ / "clip", 1, 16 * kBlock);
        path_ = tests::shared(directory_ / "clip");
        open_.path = path_.c_str();
        harness_.storage().open(open_);
        harness_.loop().run();
        ASSERT_EQ(open_.error, 0);
    }
    std::string shared_directory() const {
        return std::filesystem::path(tests::shared(directory_ / "clip")).parent_path();
    }
    void read(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            TestRead& read = reads_.emplace_back();
            read.file = open_.file;
            read.offset = (i % 16) * kBlock;
            read.buffer = arena_.memory().subspan(i % 64 * kBlock, kBlock);
            harness_.storage().read(read);
        }
    }
    void end() {
        harness_.shut_down({});
        // The system takes a moment to end the killed processes.
        for (int tries = 0; tries < 1000 && !children().empty(); ++tries) usleep(10'000);
        EXPECT_THAT(children(), testing::IsEmpty());
    }

    TemporaryDirectory directory_;
    storage::BufferArena arena_ = storage::BufferArena::make(64 * kBlock, {}).value();
    Harness<loop::UvLoop> harness_;
    std::string path_;
    TestOpen open_;
    std::deque<TestRead> reads_;
    std::vector<std::string> notices_;
};

TEST_F(SmbStorageTest, AServerThatComesBackIsReadAgain) {
    ASSERT_NO_FATAL_FAILURE(begin(2, seconds(20)));
    tests::smb_lab().kill("smb");
    read(40);
    harness_.loop().post([] { tests::smb_lab().start("smb"); });
    harness_.loop().run();
    for (const TestRead& read : reads_) {
        EXPECT_EQ(read.error, 0);
        EXPECT_EQ(same_bytes(read.buffer, 1, read.offset), kBlock);
    }
    const ServerTraffic traffic = harness_.storage().traffic().at(0);
    EXPECT_GE(traffic.reconnects, 1U);  // the first process that is up again may read all
    EXPECT_EQ(traffic.connections, 2U);
    EXPECT_EQ(traffic.protocol, "SMB 3.1.1");
    EXPECT_EQ(traffic.received_bytes, 40 * kBlock);
    EXPECT_EQ(notices_.size(), 2U) << "lost, and back: each is said once";
    end();
}

TEST_F(SmbStorageTest, AServerThatStaysAwayFailsWhatWaits) {
    ASSERT_NO_FATAL_FAILURE(begin(2, milliseconds(700)));
    tests::smb_lab().kill("smb");
    const Instant before = harness_.loop().now();
    read(20);
    harness_.loop().run();
    for (const TestRead& read : reads_) {
        EXPECT_EQ(read.error, ETIMEDOUT);
        EXPECT_EQ(read.callbacks, 1);
    }
    EXPECT_GE(harness_.loop().now() - before, milliseconds(700));
    end();
    tests::smb_lab().start("smb");
}

TEST_F(SmbStorageTest, AProcessThatAnswersNoMoreIsEnded) {
    ASSERT_NO_FATAL_FAILURE(begin(1, milliseconds(700)));
    ASSERT_EQ(children().size(), 1U);
    kill(children().front(), SIGSTOP);
    read(4);
    harness_.loop().run();
    for (const TestRead& read : reads_) EXPECT_EQ(read.error, ETIMEDOUT);
    reads_.clear();
    read(4);
    harness_.loop().run();
    for (const TestRead& read : reads_) EXPECT_EQ(read.error, 0) << "by another one";
    end();
}

TEST_F(SmbStorageTest, WhatIsCancelledEndsSoon) {
    ASSERT_NO_FATAL_FAILURE(begin(1, seconds(100)));
    kill(children().front(), SIGSTOP);
    read(4);
    for (TestRead& read : reads_) harness_.storage().cancel(read);
    const Instant before = harness_.loop().now();
    harness_.loop().run();
    for (const TestRead& read : reads_) EXPECT_EQ(read.error, ECANCELED);
    EXPECT_LT(harness_.loop().now() - before, seconds(50));
    end();
}

TEST_F(SmbStorageTest, ACancelledReadCostsTheOthersNoConnection) {
    ASSERT_NO_FATAL_FAILURE(begin(1, seconds(100)));
    Stopped stopped(children().front());
    read(4);
    harness_.storage().cancel(reads_.front());
    harness_.loop().at(harness_.loop().now() + milliseconds(700), Callback::of<&Stopped::go_on>(&stopped));
    harness_.loop().run();
    for (std::size_t i = 1; i < reads_.size(); ++i) {
        EXPECT_EQ(reads_[i].error, 0);
        EXPECT_EQ(same_bytes(reads_[i].buffer, 1, reads_[i].offset), kBlock);
    }
    EXPECT_EQ(reads_.front().callbacks, 1);
    EXPECT_EQ(harness_.storage().traffic().at(0).reconnects, 0U);
    EXPECT_THAT(notices_, testing::IsEmpty());
    end();
}

TEST_F(SmbStorageTest, CancelledReadsEndSoonWhenTheLastOtherOneIsCancelled) {
    ASSERT_NO_FATAL_FAILURE(begin(1, seconds(100)));
    kill(children().front(), SIGSTOP);
    read(2);
    harness_.storage().cancel(reads_[0]);
    Cancellation last{harness_.storage(), reads_[1]};
    const Instant before = harness_.loop().now();
    harness_.loop().at(before + milliseconds(700), Callback::of<&Cancellation::now>(&last));
    harness_.loop().run();
    for (const TestRead& read : reads_) EXPECT_EQ(read.error, ECANCELED);
    EXPECT_GE(harness_.loop().now() - before, milliseconds(700));
    EXPECT_LT(harness_.loop().now() - before, seconds(50));
    end();
}

TEST_F(SmbStorageTest, AProcessThatIsKilledFailsWhatItWasAtAndNoMore) {
    ASSERT_NO_FATAL_FAILURE(begin(1, seconds(20)));
    kill(children().front(), SIGSTOP);
    read(8);
    kill(children().front(), SIGKILL);
    harness_.loop().run();
    EXPECT_EQ(reads_.front().error, EIO);
    for (std::size_t i = 1; i < reads_.size(); ++i) EXPECT_EQ(reads_[i].error, 0);
    end();
}

TEST_F(SmbStorageTest, TheConnectionsThatFoundTheMediaPlayThem) {
    const RemotePlace place = tests::smb_place(3);
    const auto store = storage::make_smb_byte_store(place, "/media", tests::smb_user());
    ASSERT_TRUE(store->list(shared_directory()));
    const auto logged_in = children();
    EXPECT_EQ(logged_in.size(), 3U);
    write_test_file(directory_ / "open", 1, kBlock);
    auto held = store->open(tests::shared(directory_ / "open"));  // its connection is not idle
    ASSERT_TRUE(held);
    ASSERT_NO_FATAL_FAILURE(begin(place));
    EXPECT_EQ(children().size(), 4U);
    EXPECT_EQ(harness_.storage().traffic().at(0).connections, 3U);
    std::vector<std::byte> bytes(kBlock);
    EXPECT_EQ((*held)->read_at(0, bytes).value(), kBlock);
    EXPECT_EQ(same_bytes(bytes, 1, 0), kBlock);
    held->reset();
    EXPECT_TRUE(store->list(shared_directory())) << "by the connection that is idle again";
    read(64);
    harness_.loop().run();
    for (const TestRead& read : reads_) EXPECT_EQ(same_bytes(read.buffer, 1, read.offset), kBlock);
    EXPECT_EQ(children().size(), 4U);
    harness_.shut_down({});
}

TEST_F(SmbStorageTest, AnIdleConnectionThatTheServerHasClosedIsMadeAgain) {
    const RemotePlace place = tests::smb_place(2);
    const auto store = storage::make_smb_byte_store(place, "/media", tests::smb_user());
    ASSERT_TRUE(store->list(shared_directory()));
    tests::smb_lab().kill("smb");
    tests::smb_lab().start("smb");
    ASSERT_NO_FATAL_FAILURE(begin(place));
    read(8);
    harness_.loop().run();
    for (const TestRead& read : reads_) EXPECT_EQ(same_bytes(read.buffer, 1, read.offset), kBlock);
    harness_.shut_down({});
}

TEST_F(SmbStorageTest, AFileThatManyReadIsReadByAll) {
    ASSERT_NO_FATAL_FAILURE(begin(2, seconds(20)));
    read(160);  // 16 MiB each: more than kSpreadBytes
    harness_.loop().run();
    const std::uint64_t requests = harness_.storage().traffic().at(0).requests;
    EXPECT_EQ(requests, 160U + 1) << "until then it was opened once";
    reads_.clear();
    read(64);
    harness_.loop().run();
    for (const TestRead& read : reads_) EXPECT_EQ(same_bytes(read.buffer, 1, read.offset), kBlock);
    EXPECT_EQ(harness_.storage().traffic().at(0).requests, requests + 64 + 1) << "and once more by the other";
    end();
}

}  // namespace
}  // namespace streamsim
