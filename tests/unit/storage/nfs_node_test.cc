// A node of an NFS server as it finds its export, loses it and finds it again, with a clock of the test's own.
#include "storage/nfs/nfs_node.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "loopback.h"
#include "unit/storage/scripted_node.h"

namespace streamsim::storage {
namespace {

using namespace tests;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using How = ScriptedReply::How;

constexpr std::uint32_t kAccess = 13, kNoEntry = 2, kStale = 70, kInputOutput = 5;

using NfsNodeTest = ScriptedNode;

// ---- which export

TEST_F(NfsNodeTest, TheLongestPartOfThePathThatIsAnExportIsMounted) {
    server_.script(
        ScriptedNfs::mount, kMount,
        {{How::comes, refused3(kNoEntry)}, {How::comes, refused3(kAccess)}, {How::comes, mounted('r')}});
    begin(3, "/export/a/b");
    ASSERT_TRUE(boots());
    EXPECT_EQ(node_->mounted(), "/export");
    EXPECT_EQ(node_->below_root("/export/a"), "/a");
    EXPECT_EQ(node_->below_root("/export"), "");
    EXPECT_EQ(node_->below_root("/exported"), std::nullopt);
    EXPECT_EQ(node_->below_root("/other"), std::nullopt);
    EXPECT_EQ(node_->read_bytes(), 65536U);
    EXPECT_EQ(node_->write_bytes(), 32768U);
}

TEST_F(NfsNodeTest, TheDirectoryOfAFileIsMounted) {
    // The service of Linux gives the handle of a file, too.
    place_.connections = 2;
    server_.script(ScriptedNfs::mount, kMount, {{How::comes, mounted('f')}, {How::comes, mounted('r')}});
    server_.script(
        ScriptedNfs::nfs, limits3,
        {{How::comes, limits_reply3(65536, 32768, 1)}, {How::comes, limits_reply3(65536, 32768, 2)}});
    begin(3, "/export/clip.mov");
    ASSERT_TRUE(boots());
    EXPECT_EQ(node_->mounted(), "/export");
    EXPECT_EQ(node_->root().bytes[3], 'r');
    EXPECT_EQ(node_->below_root("/export/clip.mov"), "/clip.mov");
    node_->root_stale(now_);
    ASSERT_TRUE(boots());
    EXPECT_EQ(node_->mounted(), "/export");
    EXPECT_EQ(server_.calls(ScriptedNfs::mount, kMount), 3) << "that it is a file is known";
}

TEST_F(NfsNodeTest, ARootWhoseLimitsComeWithoutItsKindIsAskedForIt) {
    server_.script(ScriptedNfs::mount, kMount, {{How::comes, mounted('f')}, {How::comes, mounted('r')}});
    server_.script(ScriptedNfs::nfs, limits3, limits_reply3(65536, 32768, 0));
    server_.script(ScriptedNfs::nfs, get_attributes3,
                   {{How::comes, attributes_reply3(1, 5)}, {How::comes, attributes_reply3(2, 4096)}});
    begin(3, "/export/clip.mov");
    ASSERT_TRUE(boots());
    EXPECT_EQ(node_->mounted(), "/export");
    EXPECT_EQ(node_->root().bytes[3], 'r');
    EXPECT_EQ(node_->write_bytes(), 32768U);
}

TEST_F(NfsNodeTest, WithoutAnExportTheServersOwnAreNamed) {
    server_.script(ScriptedNfs::mount, kMount, refused3(kNoEntry));
    server_.script(ScriptedNfs::mount, kExports, exports({"/one", "/two"}));
    begin(3);
    EXPECT_TRUE(fails("no such export; the server's exports: /one, /two"));
    server_.script(ScriptedNfs::mount, kExports, exports({}));
    begin(3);
    EXPECT_TRUE(fails("no such export; the server shows none"));
    std::vector<std::string> many;
    for (int i = 0; i < 40; ++i) many.push_back(fmt::format("/e{}", i));
    server_.script(ScriptedNfs::mount, kExports, exports(many));
    begin(3);
    EXPECT_TRUE(fails(AllOf(HasSubstr("/e11, ..."), Not(HasSubstr("/e12")))));
}

TEST_F(NfsNodeTest, AnExportThatIsThereIsForbidden) {
    // Servers say that there is none, too.
    for (const std::uint32_t status : {kNoEntry, kAccess}) {
        for (const char* const name : {"/", "/export", "/export/a"}) {
            server_.script(ScriptedNfs::mount, kMount, refused3(status));
            server_.script(ScriptedNfs::mount, kExports, exports({"/other", name}));
            begin(3);
            EXPECT_TRUE(fails(HasSubstr("permission denied"))) << name;
        }
    }
    server_.script(ScriptedNfs::mount, kExports, {{How::unknown, {}}});
    for (const std::uint32_t status : {kAccess, 1U}) {
        server_.script(ScriptedNfs::mount, kMount, refused3(status));
        begin(3);
        EXPECT_TRUE(fails(HasSubstr("permission denied"))) << status;
    }
    server_.script(
        ScriptedNfs::mount, kMount,
        {{How::comes, refused3(kNoEntry)}, {How::comes, refused3(kNoEntry)}, {How::comes, refused3(kAccess)}});
    begin(3);
    EXPECT_TRUE(fails("no such export")) << "every server forbids its root";
}

TEST_F(NfsNodeTest, ServicesThatDoNotAnswerAreNamed) {
    server_.script(ScriptedNfs::mount, kMount, {{How::unknown, {}}});
    begin(3);
    EXPECT_TRUE(fails(HasSubstr("its mount service does not answer (")));
    server_.script(ScriptedNfs::mount, kMount, {{How::never, {}}});
    begin(3);
    EXPECT_TRUE(fails(HasSubstr("(the mount service) does not answer")));
    server_.script(ScriptedNfs::mount, kMount, mounted('r'));
    server_.script(ScriptedNfs::nfs, limits3, {{How::unknown, {}}});
    begin(3);
    EXPECT_TRUE(fails(HasSubstr("does not speak NFS version 3 (")));
    server_.script(ScriptedNfs::nfs, limits3, refused3(kInputOutput));
    begin(3);
    EXPECT_TRUE(fails("127.0.0.1 does not tell its limits (error 5)"));
    server_.script(ScriptedNfs::nfs, limits3, {{How::never, {}}});
    begin(3);
    EXPECT_TRUE(comes([&] { return node_->problem().ends_with(": it does not answer"); })) << node_->problem();
    EXPECT_FALSE(node_->ready());
    server_.stop();
    begin(3);
    EXPECT_TRUE(fails(HasSubstr(" (the mount service): it refuses the connection")));
}

TEST_F(NfsNodeTest, AServerThatHangsUpIsTriedAgain) {
    for (const bool politely : {false, true}) {
        server_.script(ScriptedNfs::nfs, limits3, {{How::never, {}}});
        begin(3);
        for (int i = 0; i < 150; ++i) turn();
        server_.hang_up(politely);
        for (int i = 0; i < 20; ++i) turn();
        EXPECT_FALSE(node_->failure()) << *node_->failure();
        server_.script(ScriptedNfs::nfs, limits3, limits_reply3(65536, 65536));
        EXPECT_TRUE(boots());
        // While it is asked for the export, that is the failure.
        server_.script(ScriptedNfs::mount, kMount, {{How::never, {}}});
        begin(3);
        for (int i = 0; i < 20; ++i) turn();
        server_.hang_up(politely);
        EXPECT_TRUE(fails(HasSubstr("closed the connection")));
        server_.script(ScriptedNfs::mount, kMount, mounted('r'));
    }
}

TEST_F(NfsNodeTest, LimitsAreKeptWithinWhatIsSensible) {
    struct {
        std::uint32_t read, asked, expected;
    } const cases[] = {{0, 0, kNfsTransferBytesMax},
                       {1, 0, 512},
                       {1U << 30, 0, kNfsTransferBytesMax},
                       {65536, 4096, 4096},
                       {4096, 65536, 4096}};
    for (const auto& each : cases) {
        place_.read_bytes = each.asked;
        for (const std::uint32_t version : {3U, 4U}) {
            server_.script(ScriptedNfs::nfs, limits3, limits_reply3(each.read, 0));
            script_root(90, each.read);
            begin(version);
            ASSERT_TRUE(boots());
            EXPECT_EQ(node_->read_bytes(), each.expected) << version;
            EXPECT_EQ(node_->write_bytes(), kNfsTransferBytesMax) << "the server does not say";
        }
    }
}

// ---- the port mapper

TEST_F(NfsNodeTest, PortsComeFromThePortMapper) {
    bool own_network = false;
    std::thread([&] {
        own_network = enter_own_network();
        if (!own_network) return;
        ScriptedNfs mapper(111);
        server_.stop();
        server_.listen(0);
        place_.port = place_.mount_port = 0;
        const auto with_mapper = [&](const std::function<bool()>& so) {
            return comes([&] {
                mapper.pump();
                return so();
            });
        };
        const auto port = [&](std::vector<ScriptedReply> replies) {
            mapper.script(ScriptedNfs::mapper, kAskPort, std::move(replies));
        };
        const auto failure = [&] {
            begin(3);
            EXPECT_TRUE(with_mapper([&] { return node_->failure().has_value(); }));
            return node_->failure().value_or("");
        };
        port({{How::comes, {server_.port()}}});
        begin(3);
        ASSERT_TRUE(with_mapper([&] { return node_->all_up(); }));
        EXPECT_EQ(node_->nfs_port(), server_.port());
        EXPECT_EQ(node_->mount_port(), server_.port());

        // A server that comes back at another port is found there.
        const std::uint16_t before = server_.port();
        const ScriptedNfs keeps_the_port_after;
        server_.stop();
        ASSERT_TRUE(with_mapper([&] { return !node_->ready(); }));
        server_.listen(0);
        ASSERT_NE(server_.port(), before);
        port({{How::comes, {server_.port()}}});
        ASSERT_TRUE(with_mapper([&] { return node_->all_up(); }));
        EXPECT_EQ(node_->nfs_port(), server_.port());

        port({{How::comes, {0}}});
        EXPECT_EQ(failure(), "its port mapper knows no mount service of NFS version 3 over TCP");
        port({{How::comes, {server_.port()}}, {How::comes, {70'000}}});
        EXPECT_EQ(failure(), "its port mapper knows no service of NFS version 3 over TCP");
        port({{How::unknown, {}}});
        EXPECT_THAT(failure(), HasSubstr("its port mapper does not answer ("));
        port({{How::never, {}}});
        const Instant asked = now_;
        const std::string the_mapper =
            "127.0.0.1 at port 111 (the port mapper; ?nfsport=N&mountport=N do without it)";
        EXPECT_EQ(failure(), the_mapper + " does not answer");
        EXPECT_LE(now_ - asked, Duration{place_.timeout.ns / 2}) << "version 4 has time";
        port({{How::comes, {server_.port()}}, {How::never, {}}});
        EXPECT_EQ(failure(), the_mapper + " does not answer");
        mapper.stop();
        EXPECT_EQ(failure(), the_mapper + ": it refuses the connection");
        node_.reset();
        server_.stop();
    }).join();
    if (!own_network) GTEST_SKIP() << "a network namespace takes root";
}

// ---- losses

TEST_F(NfsNodeTest, ALostConnectionIsMadeAgainAndToldOnce) {
    place_.connections = 2;
    begin(3);
    ASSERT_TRUE(boots());
    server_.stop();
    ASSERT_TRUE(comes([&] { return !node_->ready(); }));
    for (int i = 0; i < 300; ++i) turn();
    EXPECT_FALSE(node_->failure()) << "it goes on trying";
    server_.listen(server_.port());
    ASSERT_TRUE(boots());
    EXPECT_THAT(said_, ElementsAre(HasSubstr("the connection was lost"), HasSubstr("connected again")));
    EXPECT_EQ(node_->traffic().reconnects, 2U);
    EXPECT_EQ(node_->traffic().connections, 2U);
}

TEST_F(NfsNodeTest, AConnectionWhoseLimitsCannotBeReadIsMadeAgain) {
    begin(3);
    ASSERT_TRUE(boots());
    server_.script(ScriptedNfs::nfs, limits3, refused3(kInputOutput));
    server_.hang_up();
    ASSERT_TRUE(comes([&] { return !node_->ready(); }));
    const int accepted = server_.accepted(), asked = server_.calls(ScriptedNfs::nfs, limits3);
    ASSERT_TRUE(comes([&] { return server_.accepted() >= accepted + 4; }));
    EXPECT_LE(server_.calls(ScriptedNfs::nfs, limits3) - asked, server_.accepted() - accepted)
        << "each asks once";
    EXPECT_THAT(node_->problem(), testing::EndsWith(": it does not tell its limits"));
    EXPECT_FALSE(node_->ready());
    EXPECT_FALSE(node_->failure());
    server_.script(ScriptedNfs::nfs, limits3, limits_reply3(65536, 65536));
    EXPECT_TRUE(boots());
}

TEST_F(NfsNodeTest, AStaleRootIsMountedAnew) {
    begin(3);
    ASSERT_TRUE(boots());
    node_->directories()["/export/a"] = {};
    server_.script(ScriptedNfs::mount, kMount, mounted('n'));
    node_->root_stale(now_);
    EXPECT_FALSE(node_->ready());
    ASSERT_TRUE(comes([&] { return node_->ready(); }));
    EXPECT_EQ(node_->root().bytes[3], 'n');
    EXPECT_TRUE(node_->directories().empty());

    // While nothing can be mounted it goes on trying, with pauses.
    server_.script(ScriptedNfs::mount, kMount, refused3(kNoEntry));
    server_.script(ScriptedNfs::mount, kExports, exports({"/other"}));
    const int mounts = server_.calls(ScriptedNfs::mount, kMount);
    node_->root_stale(now_);
    for (int i = 0; i < 500; ++i) turn();
    EXPECT_FALSE(node_->ready());
    EXPECT_FALSE(node_->failure());
    EXPECT_GT(server_.calls(ScriptedNfs::mount, kMount), mounts + 3);
    EXPECT_LT(server_.calls(ScriptedNfs::mount, kMount), mounts + 30);
    server_.script(ScriptedNfs::mount, kMount, mounted('m'));
    ASSERT_TRUE(comes([&] { return node_->ready(); }));
    EXPECT_EQ(node_->root().bytes[3], 'm');

    // The limits may be what tells: all of them, until it has been mounted.
    server_.script(ScriptedNfs::nfs, limits3, refused3(kStale));
    const int before = server_.calls(ScriptedNfs::mount, kMount);
    server_.hang_up();
    ASSERT_TRUE(comes([&] { return server_.calls(ScriptedNfs::mount, kMount) > before; }));
    const int asked = server_.calls(ScriptedNfs::nfs, limits3);
    for (int i = 0; i < 200; ++i) turn();
    EXPECT_GT(server_.calls(ScriptedNfs::mount, kMount), before + 5);
    EXPECT_LT(server_.calls(ScriptedNfs::nfs, limits3), asked + 100) << "with pauses";
    server_.script(ScriptedNfs::nfs, limits3, limits_reply3(65536, 65536));
    EXPECT_TRUE(boots());
}

TEST_F(NfsNodeTest, AServerThatDoesNotEvenRefuseIsTriedAgain) {
    // A queue of connections that is full leaves further ones without an answer.
    server_.stop();
    server_.listen(0, 0);
    place_.port = server_.port();
    std::vector<std::unique_ptr<NfsTransport>> others;
    for (int i = 0; i < 2; ++i) {
        others.push_back(std::make_unique<NfsTransport>(place_));
        ASSERT_TRUE(others.back()->connect("127.0.0.1", place_.port, now_));
    }
    node_ = std::make_unique<NfsNode>(place_, "127.0.0.1", 4, "/export", NoticeSink{});
    node_->begin(now_);
    for (int i = 0; i < 50; ++i) {
        now_ = now_ + milliseconds(100);
        node_->tick(now_);
    }
    EXPECT_FALSE(node_->failure());
    EXPECT_THAT(node_->problem(), testing::EndsWith(": it cannot be reached"));
    others.clear();
    EXPECT_TRUE(boots());
}

/// A service whose queue of connections is full: further ones are left without an answer.
struct FullService {
    explicit FullService(const RemotePlace& place) {
        service.stop();
        service.listen(0, 0);
        for (int i = 0; i < 2; ++i) {
            waiting.push_back(std::make_unique<NfsTransport>(place));
            EXPECT_TRUE(waiting.back()->connect("127.0.0.1", service.port(), Instant{}));
        }
    }

    ScriptedNfs service;
    std::vector<std::unique_ptr<NfsTransport>> waiting;
};

TEST_F(NfsNodeTest, AMountServiceOutOfReachLeavesTimeForVersion4) {
    const FullService full(place_);
    place_.mount_port = full.service.port();
    const Instant begun = now_;
    begin(3);
    EXPECT_TRUE(fails(HasSubstr("(the mount service) does not answer")));
    EXPECT_GT(now_ - begun, seconds(1)) << "a lost packet is sent again";
    EXPECT_LE(now_ - begun, Duration{place_.timeout.ns / 2});
    place_.version = 3;
    const Instant again = now_;
    begin(3);
    EXPECT_TRUE(fails(HasSubstr("(the mount service) does not answer")));
    EXPECT_GT(now_ - again, Duration{place_.timeout.ns / 2}) << "no other version is wanted";
}

TEST_F(NfsNodeTest, AMountServiceThatComesBackIsReachedSoon) {
    begin(3);
    ASSERT_TRUE(boots());
    FullService full(place_);
    full.service.script(ScriptedNfs::mount, kMount, mounted('n'));
    place_.mount_port = full.service.port();
    node_->root_stale(now_);
    std::set<std::int64_t> attempts;  // when they began
    for (int i = 0; i < 300; ++i) {
        turn();
        node_->each_connection([&attempts](const NfsConnection& each) {
            if (each.stage == NfsConnection::Stage::connecting) attempts.insert(each.since.ns);
        });
    }
    EXPECT_THAT(attempts, SizeIs(3)) << "two before a third of the time-out is over, and one a second later";
    EXPECT_FALSE(node_->ready());
    EXPECT_FALSE(node_->failure());
    full.waiting.clear();
    EXPECT_TRUE(comes(
        [&] {
            full.service.pump();
            return node_->ready();
        },
        seconds(4)));
}

// ---- version 4

TEST_F(NfsNodeTest, ALeaseIsRenewedInTime) {
    for (const auto& [lease_s, first_s] : {std::pair{90U, 30}, std::pair{30U, 10}, std::pair{1U, 3}}) {
        script_root(lease_s);
        begin(4);
        ASSERT_TRUE(boots());
        const int before = server_.calls(ScriptedNfs::nfs, renew4);
        const Instant up = now_;
        ASSERT_TRUE(comes([&] { return server_.calls(ScriptedNfs::nfs, renew4) > before; }, seconds(40)));
        EXPECT_NEAR(static_cast<double>((now_ - up).ns) * 1e-9, first_s, 0.2) << lease_s;
        ASSERT_TRUE(comes([&] { return server_.calls(ScriptedNfs::nfs, renew4) > before + 1; }, seconds(40)));
        EXPECT_NEAR(static_cast<double>((now_ - up).ns) * 1e-9, 2 * first_s, 0.4) << lease_s;
    }
}

TEST_F(NfsNodeTest, AClientThatTheServerForgotIsMadeAnew) {
    begin(4);
    ASSERT_TRUE(boots());
    EXPECT_EQ(node_->client(), 7U);
    server_.script(ScriptedNfs::nfs, set_client4, client_reply4(8));
    server_.script(ScriptedNfs::nfs, renew4, compound4({{renew4, 10022}}));
    ASSERT_TRUE(comes([&] { return node_->client() == 8; }, seconds(40)));
    ASSERT_TRUE(comes([&] { return node_->ready(); }));
    node_->client_expired(7);
    EXPECT_TRUE(node_->ready()) << "that was another one";
    node_->client_expired(8);
    EXPECT_FALSE(node_->ready());
    node_->client_expired(8);  // said by many replies
    server_.script(
        ScriptedNfs::nfs, confirm_client4,
        {{How::comes, compound4({{confirm_client4, 10022}})}, {How::comes, compound4({{confirm_client4, 0}})}});
    EXPECT_TRUE(boots()) << "a confirmation that fails begins again";
    node_->root_stale(now_);
    EXPECT_TRUE(node_->ready()) << "the root of version 4 is asked for by name";
}

TEST_F(NfsNodeTest, AServerThatTakesClientsLaterIsAskedAtIntervals) {
    const ScriptedReply later{How::comes, compound4({{set_client4, 10008}})};
    server_.script(ScriptedNfs::nfs, set_client4, {later, later, later, {How::comes, client_reply4(7)}});
    begin(4);
    const Instant begun = now_;
    ASSERT_TRUE(boots());
    EXPECT_EQ(server_.calls(ScriptedNfs::nfs, set_client4), 4);
    EXPECT_NEAR(static_cast<double>((now_ - begun).ns) * 1e-9, 0.3, 0.15);
}

TEST_F(NfsNodeTest, AServerThatTellsItsLimitsLaterIsAskedAtIntervals) {
    for (const std::uint32_t version : {3U, 4U}) {
        const std::uint32_t limits = version == 3 ? std::uint32_t{limits3} : std::uint32_t{get_handle4};
        const ScriptedReply later{How::comes, version == 3 ? refused3(10008) : compound4({{put_root4, 10008}})};
        const ScriptedReply told{How::comes,
                                 version == 3 ? limits_reply3(65536, 32768) : root_reply4(90, 65536)};
        std::vector<ScriptedReply> replies(15, later);
        replies.push_back(told);
        server_.script(ScriptedNfs::nfs, limits, replies);
        const int before = server_.accepted();
        begin(version);
        const Instant begun = now_;
        ASSERT_TRUE(boots()) << version;
        EXPECT_NEAR(static_cast<double>((now_ - begun).ns) * 1e-9, 1.5, 0.4) << version;
        EXPECT_LE(server_.accepted(), before + 2) << "by the connections that were there";
    }
}

TEST_F(NfsNodeTest, AServerWithoutClientsOfVersion4IsNamed) {
    server_.script(ScriptedNfs::nfs, set_client4, compound4({{set_client4, kAccess}}));
    begin(4);
    EXPECT_TRUE(fails("127.0.0.1 does not accept a client of version 4 (error 13)"));
    script_root(90);
    server_.script(ScriptedNfs::nfs, get_handle4, {{How::unknown, {}}});
    begin(4);
    EXPECT_TRUE(fails(HasSubstr("does not speak NFS version 4 (")));
    // Limits that were not asked for.
    server_.script(ScriptedNfs::nfs, get_handle4,
                   compound4({{put_root4, 0}, {get_handle4, 0, 4, 'r'}, {get_attributes4, 0, 1, 1, 4, 9}}));
    server_.script(ScriptedNfs::nfs, set_client4, client_reply4(7));
    begin(4);
    ASSERT_TRUE(boots());
    EXPECT_EQ(node_->read_bytes(), kNfsTransferBytesMax);
}

}  // namespace
}  // namespace streamsim::storage
