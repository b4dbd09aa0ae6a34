// Single requests of both versions, and replies to them that are not well formed.
#include "storage/nfs/nfs_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/storage/scripted_node.h"

namespace streamsim::storage {
namespace {

using namespace tests;
using testing::SizeIs;
using How = ScriptedReply::How;

constexpr std::uint32_t kAskedBytes = 8;

class NfsRequestsTest : public ScriptedNode {
protected:
    void boot(std::uint32_t version) {
        begin(version, "/export");
        ASSERT_TRUE(boots());
    }

    /// The reply's own views are gone: `data_` and `text_` are copies.
    NfsReply ask(const std::function<bool(const NfsRequests&, NfsCall&)>& request) {
        NfsCall call{take, this};
        replied_ = false;
        EXPECT_TRUE(request(node_->requests(now_), call));
        const auto came = comes([&] {
            node_->flush(now_);
            return replied_;
        });
        EXPECT_TRUE(came);
        if (!came) node_->drop_all();
        return reply_;
    }
    int error_of(std::uint32_t procedure,
                 const XdrWords& words,
                 const std::function<bool(const NfsRequests&, NfsCall&)>& request) {
        server_.script(ScriptedNfs::nfs, procedure, words);
        const NfsReply reply = ask(request);
        if (reply.outcome == NfsOutcome::done) return 0;
        return reply.outcome == NfsOutcome::failed ? reply.error : -1;
    }

    NfsOpenFile file_;
    NfsReply reply_;
    std::string data_, text_;
    bool replied_ = false;

private:
    static void take(void* self, NfsCall&, const NfsReply& reply) {
        auto& test = *static_cast<NfsRequestsTest*>(self);
        test.reply_ = reply;
        test.data_.assign(reinterpret_cast<const char*>(reply.data.data()), reply.data.size());
        test.text_ = reply.text;
        test.replied_ = true;
    }
};

TEST_F(NfsRequestsTest, AReadHasNoMoreThanWasAskedForAndAnEnd) {
    const auto reading = [&](const NfsRequests& requests, NfsCall& call) {
        return requests.read(call, file_, 0, kAskedBytes);
    };
    const XdrWords whole{8, 0x61626364, 0x65666768};
    for (const std::uint32_t version : {3U, 4U}) {
        ASSERT_NO_FATAL_FAILURE(boot(version));
        const auto procedure = version == 3 ? std::uint32_t{read3} : std::uint32_t{read4};
        const auto reply = [&](std::uint32_t end, const XdrWords& data) {
            return version == 3 ? joined({{0, 0, data[0], end}, data})
                                : compound4({{put_handle4, 0}, joined({{read4, 0, end}, data})});
        };
        EXPECT_EQ(error_of(procedure, reply(0, whole), reading), 0);
        EXPECT_EQ(data_, "abcdefgh");
        EXPECT_FALSE(reply_.end_of_file);
        EXPECT_EQ(error_of(procedure, reply(1, {3, 0x61626300}), reading), 0);
        EXPECT_EQ(data_, "abc");
        EXPECT_TRUE(reply_.end_of_file);
        EXPECT_EQ(error_of(procedure, reply(1, {0}), reading), 0);
        EXPECT_EQ(error_of(procedure, reply(0, {0}), reading), EPROTO) << "it would never end";
        EXPECT_EQ(error_of(procedure, reply(0, {12, 1, 2, 3}), reading), EPROTO) << "more than was asked for";
    }
    EXPECT_EQ(error_of(read4, compound4({{put_handle4, 0}}), reading), EPROTO);
    ASSERT_NO_FATAL_FAILURE(boot(3));
    EXPECT_EQ(error_of(read3, {0, 0, 4, 0, 8, 1, 2}, reading), EPROTO) << "two lengths";
}

TEST_F(NfsRequestsTest, AWriteSaysHowMuchAndWhere) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    const std::string bytes(kAskedBytes, 'b');
    const auto writing = [&](const NfsRequests& requests, NfsCall& call) {
        return requests.write(call, file_.handle, 0, std::as_bytes(std::span(bytes)));
    };
    const auto reply = [](std::uint32_t count, std::uint32_t committed) {
        return XdrWords{0, 0, 0, count, committed, 7, 8};
    };
    EXPECT_EQ(error_of(write3, reply(8, 0), writing), 0);
    EXPECT_EQ(reply_.number, 8U);
    EXPECT_FALSE(reply_.stable);
    EXPECT_EQ(error_of(write3, reply(5, 2), writing), 0);
    EXPECT_TRUE(reply_.stable);
    EXPECT_EQ(error_of(write3, reply(0, 2), writing), EPROTO) << "it would never end";
    EXPECT_EQ(error_of(write3, reply(9, 2), writing), EPROTO);
    EXPECT_EQ(error_of(commit3, {0, 0, 0, 7, 8},
                       [&](const NfsRequests& requests, NfsCall& call) {
                           return requests.commit(call, file_.handle);
                       }),
              0);
    EXPECT_EQ(reply_.verifier[3], 7);
}

TEST_F(NfsRequestsTest, HandlesHaveASize) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    const auto creating = [&](const NfsRequests& requests, NfsCall& call) {
        return requests.create(call, file_.handle, "name");
    };
    EXPECT_EQ(error_of(create3, create_reply3('h'), creating), 0);
    EXPECT_EQ(reply_.handle.size, 4U);
    EXPECT_EQ(error_of(create3, create_reply3(), creating), 0);
    EXPECT_EQ(reply_.handle.size, 0U);
    EXPECT_EQ(error_of(create3, {0, 1, 0, 0, 0, 0}, creating), EPROTO);
    EXPECT_NE(error_of(create3, joined({{0, 1, 200}, XdrWords(50), {0, 0, 0}}), creating), 0);
    ASSERT_NO_FATAL_FAILURE(boot(4));
    const auto looking = [&](const NfsRequests& requests, NfsCall& call) {
        return requests.lookup(call, file_.handle, "name");
    };
    const XdrWords long_handle = joined({{get_handle4, 0, 200}, XdrWords(50)});
    EXPECT_NE(error_of(lookup4, compound4({{put_handle4, 0}, {lookup4, 0}, long_handle}), looking), 0);
}

TEST_F(NfsRequestsTest, ALinkHasATarget) {
    const auto reading = [&](const NfsRequests& requests, NfsCall& call) {
        return requests.read_link(call, file_.handle);
    };
    ASSERT_NO_FATAL_FAILURE(boot(3));
    EXPECT_EQ(error_of(read_link3, link_reply3("there"), reading), 0);
    EXPECT_EQ(text_, "there");
    EXPECT_EQ(error_of(read_link3, refused3(5), reading), EIO);
    ASSERT_NO_FATAL_FAILURE(boot(4));
    EXPECT_EQ(error_of(read_link4, link_reply4("there"), reading), 0);
    EXPECT_EQ(text_, "there");
}

TEST_F(NfsRequestsTest, ExportsBeyondAThousandAreLeftOut) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    std::vector<std::string> many;
    for (int i = 0; i < 1100; ++i) many.push_back("/e" + std::to_string(i));
    server_.script(ScriptedNfs::mount, kExports, exports(many));
    NfsTransport* transport = nullptr;
    node_->each_connection([&](NfsConnection& each) { transport = &each.transport; });
    const NfsReply reply =
        ask([&](const NfsRequests&, NfsCall& call) { return nfs_ask_exports(*transport, call, now_); });
    EXPECT_THAT(reply.names, SizeIs(1000));
}

TEST_F(NfsRequestsTest, Version4TellsItsFreeSpace) {
    ASSERT_NO_FATAL_FAILURE(boot(4));
    constexpr std::uint32_t kSpace = 1U << (42 - 32);
    NfsTransport* transport = nullptr;
    node_->each_connection([&](NfsConnection& each) { transport = &each.transport; });
    struct Answer {
        bool came = false;
        int error = 0;
        std::uint64_t bytes = 0;
    } answer;
    const auto start = [&](const std::string& path) {
        answer = {};
        return nfs4_ask_space(
            transport->rpc(), path,
            [](void* of, int error, std::uint64_t bytes) {
                *static_cast<Answer*>(of) = {true, error, bytes};
            },
            &answer);
    };
    const auto asked = [&](std::uint32_t operation, const std::string& path, const XdrWords& words) {
        server_.script(ScriptedNfs::nfs, operation, words);
        EXPECT_TRUE(start(path));
        EXPECT_TRUE(comes([&] {
            transport->flush();
            return answer.came;
        }));
        return answer.error;
    };
    const auto space = [](const XdrWords& mask_and_value) {
        return compound4({{put_root4, 0}, {lookup4, 0}, joined({{get_attributes4, 0}, mask_and_value})});
    };
    EXPECT_EQ(asked(lookup4, "/a//b/", space({2, 0, kSpace, 8, 1, 5})), 0);
    EXPECT_EQ(answer.bytes, (std::uint64_t{1} << 32) + 5);
    EXPECT_EQ(
        asked(get_attributes4, "/", compound4({{put_root4, 0}, {get_attributes4, 0, 2, 0, kSpace, 8, 0, 9}})),
        0);
    EXPECT_EQ(answer.bytes, 9U);
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += "/d";
    EXPECT_EQ(asked(lookup4, deep, space({2, 0, kSpace, 8, 0, 7})), 0) << "of the sixtieth directory";
    EXPECT_EQ(asked(lookup4, "/a", space({1, 0, 0})), EOPNOTSUPP);
    EXPECT_EQ(asked(lookup4, "/a", space({2, 1, kSpace, 8, 0, 7})), EOPNOTSUPP);
    EXPECT_EQ(asked(lookup4, "/a", space({2, 0, kSpace * 2, 8, 0, 7})), EOPNOTSUPP);
    EXPECT_EQ(asked(lookup4, "/a", space({2, 0, kSpace, 4, 0})), EOPNOTSUPP);
    EXPECT_EQ(asked(lookup4, "/a", compound4({{put_root4, 0}, {lookup4, 0}})), EPROTO);
    EXPECT_EQ(asked(lookup4, "/a", compound4({{put_root4, 0}, {lookup4, 2}})), ENOENT);
    EXPECT_EQ(asked(lookup4, "/a", compound4({{put_root4, 0}, {lookup4, 10008}})), EIO);
    server_.script(ScriptedNfs::nfs, lookup4, {{How::never, {}}});
    ASSERT_TRUE(start("/a"));
    transport->flush();
    transport->drop();
    EXPECT_TRUE(answer.came);
    EXPECT_EQ(answer.error, ENOTCONN);
}

TEST_F(NfsRequestsTest, WithoutAConnectionNothingIsSent) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    NfsTransport* transport = nullptr;
    node_->each_connection([&](NfsConnection& each) { transport = &each.transport; });
    transport->drop();
    NfsCall call{[](void*, NfsCall&, const NfsReply&) {}, nullptr};
    EXPECT_FALSE(nfs_ask_port(*transport, call, NfsService::mount, now_));
    EXPECT_FALSE(nfs_mount(*transport, call, "/export", now_));
    EXPECT_FALSE(nfs_ask_exports(*transport, call, now_));
    EXPECT_FALSE(NfsRequests(*transport, 3, now_).access(call, file_.handle));
    EXPECT_FALSE(transport->flush());
    EXPECT_FALSE(transport->service(POLLIN, now_));
    EXPECT_FALSE(transport->polled().has_value());
}

TEST_F(NfsRequestsTest, AnAddressThatIsNoneCannotBeConnectedTo) {
    NfsTransport transport(place_);
    // A label that is too long is refused before anybody is asked.
    EXPECT_FALSE(transport.connect(std::string(64, 'x') + ".invalid", 2049, now_));
    EXPECT_THAT(transport.problem(), testing::StartsWith("connecting failed ("));
    EXPECT_EQ(transport.state(), NfsTransport::State::down);
    bool own_network = false;
    std::thread([&] {
        own_network = unshare(CLONE_NEWNET) == 0;
        NfsTransport unreachable(place_);
        const bool connects = own_network && unreachable.connect("10.1.1.1", 2049, now_);
        EXPECT_FALSE(connects);
        if (own_network) EXPECT_FALSE(unreachable.problem().empty());
    }).join();
    if (!own_network) GTEST_SKIP() << "a network namespace takes root";
}

}  // namespace
}  // namespace streamsim::storage
