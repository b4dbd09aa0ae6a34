// The server stops while files are read, and comes back or does not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <deque>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "conformance/storage_backends.h"
#include "conformance/storage_harness.h"
#include "loop/uv_loop.h"
#include "real/nfs_lab.h"
#include "storage/backends.h"

namespace streamsim {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{4} << 20;

class NfsLoss : public testing::TestWithParam<std::uint32_t> {
protected:
    void begin(Duration timeout) {
        RemotePlace place = tests::nfs_place(GetParam(), 2);
        place.timeout = timeout;
        begin(place);
    }
    void begin(const RemotePlace& place) {
        write_test_file(directory_ / "clip", 5, kBytes);
        storage::RemoteOptions options;
        options.notice = [this](const std::string& text) { said_.push_back(text); };
        auto storage = storage::make_nfs_storage(harness_.loop(), harness_.own_loop().uv(), place,
                                                 tests::exported(directory_.path()), options);
        ASSERT_TRUE(storage) << storage.error().problems.front();
        harness_.use(std::move(*storage));
        path_ = tests::exported(directory_ / "clip");
        open_.path = path_.c_str();
        harness_.storage().open(open_);
        harness_.loop().run();
        ASSERT_EQ(open_.error, 0);
    }
    void begin_read(TestRead& read) {
        read.file = open_.file;
        read.buffer = memory_;
        harness_.storage().read(read);
    }

    TemporaryDirectory directory_;
    Harness<loop::UvLoop> harness_;
    std::vector<std::string> said_;
    std::vector<std::byte> memory_ = std::vector<std::byte>(kBytes);
    std::string path_;
    TestOpen open_;
};

/// The addresses of both ends of each connection of this network.
std::set<std::string> connections() {
    std::ifstream list("/proc/self/net/tcp");
    std::set<std::string> found;
    std::string number, here, there, state, rest;
    while (list >> number >> here >> there >> state && std::getline(list, rest)) {
        if (state == "01") found.insert(here + there);
    }
    return found;
}

TEST_P(NfsLoss, TheConnectionsThatFoundTheMediaPlayThem) {
    const RemotePlace place = tests::nfs_place(GetParam(), 2);
    const auto store = storage::make_nfs_byte_store(place, tests::exported(directory_.path()));
    ASSERT_TRUE(store->list(tests::exported(directory_.path())));
    const auto before = connections();
    ASSERT_NO_FATAL_FAILURE(begin(place));
    EXPECT_EQ(connections(), before);
    TestRead read;
    begin_read(read);
    harness_.loop().run();
    EXPECT_EQ(same_bytes(memory_, 5, 0), kBytes);
    EXPECT_EQ(harness_.storage().traffic().front().connections, 2U);
    EXPECT_TRUE(said_.empty());
    tests::kill_server();  // the notices have another reader now
    TestRead again;
    begin_read(again);
    harness_.loop().at(harness_.loop().now() + milliseconds(100),
                       Callback{[](void*) { tests::start_server(); }, this});
    harness_.loop().run();
    EXPECT_EQ(again.error, 0);
    EXPECT_FALSE(said_.empty());
    EXPECT_TRUE(store->list(tests::exported(directory_.path())));
    harness_.shut_down({});
}

TEST_P(NfsLoss, AnIdleConnectionThatTheServerHasClosedIsMadeAgain) {
    const RemotePlace place = tests::nfs_place(GetParam(), 2);
    const auto store = storage::make_nfs_byte_store(place, tests::exported(directory_.path()));
    ASSERT_TRUE(store->list(tests::exported(directory_.path())));
    tests::kill_server();
    tests::start_server();
    ASSERT_NO_FATAL_FAILURE(begin(place));
    TestRead read;
    begin_read(read);
    harness_.loop().run();
    EXPECT_EQ(same_bytes(memory_, 5, 0), kBytes);
    harness_.shut_down({});
}

TEST_P(NfsLoss, AServerThatComesBackIsUsedAgain) {
    ASSERT_NO_FATAL_FAILURE(begin(seconds(30)));
    tests::kill_server();
    TestRead read;
    begin_read(read);
    harness_.loop().at(harness_.loop().now() + milliseconds(100),
                       Callback{[](void*) { tests::start_server(); }, this});
    harness_.loop().run();
    EXPECT_EQ(read.error, 0);
    EXPECT_EQ(read.bytes, kBytes);
    EXPECT_EQ(same_bytes(memory_, 5, 0), kBytes);
    TestRead again;
    begin_read(again);
    harness_.loop().run();
    EXPECT_EQ(again.error, 0);
    ASSERT_EQ(harness_.storage().traffic().size(), 1U);
    const ServerTraffic traffic = harness_.storage().traffic().front();
    EXPECT_EQ(traffic.connections, 2U);
    EXPECT_GE(traffic.reconnects, 1U);
    EXPECT_GE(traffic.received_bytes, 2 * kBytes);
    EXPECT_GE(traffic.requests, 8U);
    EXPECT_EQ(traffic.protocol, GetParam() == 3 ? "NFSv3" : "NFSv4.0");
    EXPECT_TRUE(traffic.rtt_ns.has_value());
    ASSERT_GE(said_.size(), 1U);
    EXPECT_NE(said_.front().find("was lost"), std::string::npos);
    harness_.shut_down({});
}

TEST_P(NfsLoss, WithoutAServerOperationsEndInTime) {
    ASSERT_NO_FATAL_FAILURE(begin(milliseconds(500)));
    tests::kill_server();
    TestRead read;
    begin_read(read);
    TestOpen open;
    open.path = path_.c_str();
    harness_.storage().open(open);
    TestRead cancelled;
    begin_read(cancelled);
    harness_.storage().cancel(cancelled);
    const Instant begin = harness_.loop().now();
    harness_.loop().run();
    EXPECT_EQ(read.error, ETIMEDOUT);
    EXPECT_EQ(open.error, ETIMEDOUT);
    EXPECT_EQ(cancelled.error, ECANCELED);
    EXPECT_GE(read.completed_at - read.submitted_at, milliseconds(500));
    EXPECT_LT(cancelled.completed_at - begin, milliseconds(400));
    harness_.shut_down({});
    tests::start_server();
}

void wait_for_another_second() {
    const std::time_t now = std::time(nullptr);
    while (std::time(nullptr) == now) usleep(10'000);
}

// Version 4 does not write.
class NfsWriteLoss : public NfsLoss {
protected:
    /// Writes the contents of `memory_` to the open file at `offset`.
    void begin_write(TestWrite& write, std::uint64_t offset) {
        write.file = file_;
        write.offset = offset;
        write.buffer = memory_;
        harness_.storage().write(write);
    }
    int sync_now() {
        TestSync sync;
        sync.file = file_;
        harness_.storage().sync(sync);
        harness_.loop().run();
        EXPECT_EQ(sync.callbacks, 1);
        return sync.error;
    }
    void create() {
        ASSERT_NO_FATAL_FAILURE(begin(seconds(30)));
        fill_with_test_bytes(memory_, 8, 0);
        new_path_ = tests::exported(directory_ / "new");
        TestOpen open;
        open.path = new_path_.c_str();
        open.access = Access::create_new;
        harness_.storage().open(open);
        harness_.loop().run();
        ASSERT_EQ(open.error, 0);
        file_ = open.file;
    }

    std::string new_path_;
    FileId file_ = kNoFile;
};

TEST_P(NfsWriteLoss, ASyncTellsWhatAServerThatRestartedMayHaveLost) {
    ASSERT_NO_FATAL_FAILURE(create());
    TestWrite write;
    begin_write(write, 0);
    harness_.loop().run();
    ASSERT_EQ(write.error, 0);
    tests::kill_server();
    wait_for_another_second();  // the server's verifier is the second of its start
    tests::start_server();
    EXPECT_EQ(sync_now(), EIO);
    begin_write(write, 0);
    harness_.loop().run();
    EXPECT_EQ(write.error, 0);
    EXPECT_EQ(sync_now(), 0) << "once it was told, and written again";
    harness_.shut_down({});
}

TEST_P(NfsWriteLoss, AWriteAndANameWaitForTheServerToComeBack) {
    ASSERT_NO_FATAL_FAILURE(create());
    tests::kill_server();
    TestWrite write;
    begin_write(write, 0);
    TestPath name;
    const std::string to = tests::exported(directory_ / "named");
    name.kind = PathOp::Kind::rename;
    name.path = new_path_.c_str();
    name.to = to.c_str();
    harness_.storage().perform(name);
    harness_.loop().at(harness_.loop().now() + milliseconds(100),
                       Callback{[](void*) { tests::start_server(); }, this});
    harness_.loop().run();
    EXPECT_EQ(write.error, 0);
    EXPECT_EQ(write.bytes, kBytes);
    EXPECT_EQ(name.error, 0);
    EXPECT_EQ(sync_now(), 0);
    std::ifstream file(directory_ / "named", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(same_bytes(std::as_bytes(std::span(text)), 8, 0), kBytes);
    harness_.shut_down({});
}

INSTANTIATE_TEST_SUITE_P(All, NfsWriteLoss, testing::Values(3U), [](const auto& instance) {
    return "v" + std::to_string(instance.param);
});
INSTANTIATE_TEST_SUITE_P(All, NfsLoss, testing::Values(3U, 4U), [](const auto& instance) {
    return "v" + std::to_string(instance.param);
});

}  // namespace
}  // namespace streamsim
