#include "host/server_path.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "loopback.h"

namespace streamsim::host {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Descriptors of this process.
std::ptrdiff_t descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TcpConnection connection_with(const std::string& peer, std::uint64_t received_bytes) {
    TcpConnection made;
    made.id = peer + ":2049";
    made.peer = peer;
    made.peer_port = 2049;
    made.received_bytes = received_bytes;
    return made;
}

std::string path_of(ServerPath& path) {
    SystemSample sample;
    path.fill(sample);
    return sample.path ? sample.path->peer : "none";
}

TEST(ServerPath, KeepsNothingOpenForPeersThatAreGone) {
    ServerPath path({}, false);
    std::int64_t now = 0;
    path.look(now += kSecond, {});
    const std::ptrdiff_t before = descriptors();
    for (int i = 1; i <= 100; ++i) {
        const std::string peer = "192.0.2." + std::to_string(i);
        path.look(now += kSecond, {connection_with(peer, static_cast<std::uint64_t>(i + 1) << 20)});
        ASSERT_EQ(path_of(path), peer) << "the peer with most bytes is the server";
    }
    EXPECT_LE(descriptors(), before + 2);
}

TEST(ServerPath, KeepsTheServerWhoseConnectionIsGone) {
    ServerPath path({}, false);
    std::int64_t now = 0;
    path.look(now += kSecond, {});
    path.look(now += kSecond, {connection_with("192.0.2.1", 5 << 20)});
    const std::ptrdiff_t aimed = descriptors();
    for (int i = 0; i < 3; ++i) path.look(now += kSecond, {connection_with("192.0.2.2", 1 << 20)});
    EXPECT_EQ(path_of(path), "192.0.2.1");
    EXPECT_EQ(descriptors(), aimed) << "it may come back";
}

TEST(ServerPath, WatchesNoLongerAPeerThatOnlyDownloadsMadeTheServer) {
    ServerPath path({}, false);
    std::int64_t now = 0;
    path.look(now += kSecond, {});
    const std::ptrdiff_t before = descriptors();
    const std::vector<TcpConnection> download{connection_with("192.0.2.1", 5 << 20)};
    path.look(now += kSecond, download);
    const std::ptrdiff_t aimed = descriptors();
    EXPECT_GT(aimed, before);
    for (int i = 0; i < 60; ++i) path.look(now += kSecond, {});
    EXPECT_EQ(descriptors(), aimed) << "a server that restarts comes back by then";
    SystemSample then;
    path.fill(then);
    for (int i = 0; i < 60; ++i) path.look(now += kSecond, {});
    EXPECT_EQ(descriptors(), before);
    SystemSample later;
    path.fill(later);
    ASSERT_TRUE(then.path && later.path);
    EXPECT_LE(later.path->quiet_ns, then.path->quiet_ns) << "no server is quiet";
    path.look(now += kSecond, download);
    EXPECT_EQ(descriptors(), aimed) << "it is back";
}

TEST(ServerPath, ANamedServerIsWatchedHoweverLongItIsGone) {
    ServerPath path({"192.0.2.1"}, false);
    std::int64_t now = 0;
    path.look(now += kSecond, {});
    path.look(now += kSecond, {connection_with("192.0.2.1", 5 << 20)});
    const std::ptrdiff_t aimed = descriptors();
    for (int i = 0; i < 200; ++i) path.look(now += kSecond, {});
    EXPECT_EQ(descriptors(), aimed);
}

TEST(ServerPath, CountsOnWhenAPeerThatIsNoServerComesBack) {
    ServerPath path({}, false);
    std::int64_t now = 0;
    path.look(now += kSecond, {});
    path.look(now += kSecond, {connection_with("192.0.2.1", 5 << 20), connection_with("192.0.2.2", 3 << 20)});
    path.look(now += kSecond, {connection_with("192.0.2.1", 5 << 20)});
    path.look(now += kSecond, {connection_with("192.0.2.1", 5 << 20), connection_with("192.0.2.2", 3 << 20)});
    EXPECT_EQ(path_of(path), "192.0.2.2") << "it has sent 6 MiB by two connections";
}

TEST(ServerPath, AddsUpThePeersThatWereItsServers) {
    ServerPath path({}, false);
    std::int64_t now = 0;
    path.look(now += kSecond, {});
    TcpConnection first = connection_with("192.0.2.1", 5 << 20);
    first.received_segments = 4000;
    TcpConnection second = connection_with("192.0.2.2", 1 << 20);
    second.received_segments = 900;
    second.out_of_order = 500;
    path.look(now += kSecond, {first, second});
    second.received_bytes = 9 << 20;
    second.received_segments = 7000;
    path.look(now += kSecond, {first, second});
    second.received_segments = 7010;
    path.look(now += kSecond, {first, second});
    SystemSample sample;
    path.fill(sample);
    ASSERT_TRUE(sample.path);
    EXPECT_EQ(sample.path->peer, "192.0.2.2");
    EXPECT_EQ(sample.path->received_segments, 4010u) << "of each as long as it was the server";
    EXPECT_EQ(sample.path->out_of_order, 0u);
    EXPECT_EQ(sample.path->lossy_samples, 0u);
}

TEST(ServerPath, ThisComputerIsNoServerUnlessItIsNamed) {
    for (const char* const address : {"127.0.0.1", "::1", "::ffff:127.0.0.1"}) {
        ServerPath path({}, false);
        path.look(kSecond, {});
        path.look(2 * kSecond, {connection_with(address, 5 << 20)});
        EXPECT_EQ(path_of(path), "none") << address;
        ServerPath named({address}, false);
        named.look(kSecond, {});
        named.look(2 * kSecond, {connection_with(address, 5 << 20)});
        EXPECT_EQ(path_of(named), address);
    }
}

/// False: pings are answered as before.
bool answer_pings(bool yes) {
    std::ofstream out("/proc/sys/net/ipv4/icmp_echo_ignore_all");
    return out << (yes ? "0" : "1") << std::flush && out.good();
}

/// A server that answers pings until it is told not to, in a network of its own.
struct PingedServer {
    ServerPath path{{"127.0.0.1"}, false};
    std::int64_t now_ns = kSecond;
    std::uint64_t bytes = 1 << 20;

    PingedServer() {
        path.look(now_ns, {});
        look(5, true);
    }
    SystemSample::Path look(int times, bool data) {
        for (int i = 0; i < times; ++i) {
            if (data) bytes += 1 << 20;
            path.look(now_ns += kSecond / 10, {connection_with("127.0.0.1", bytes)});
        }
        SystemSample sample;
        path.fill(sample);
        return sample.path.value_or(SystemSample::Path());
    }
};

/// In a network of its own. False: this computer permits none.
bool with_a_server(void (*test)(PingedServer&)) {
    bool ran = false;
    std::thread([test, &ran] {
        if (!tests::enter_own_network() || !answer_pings(true)) return;
        PingedServer server;
        ran = server.look(2, false).quiet_answers > 0;  // else pings are not permitted
        if (ran) test(server);
    }).join();
    return ran;
}

TEST(ServerPath, PingsWithoutAnAnswerCountFromTheLastDataOn) {
    const bool ran = with_a_server([](PingedServer& server) {
        answer_pings(false);
        EXPECT_EQ(server.look(5, true).unanswered_ns, 0);
        EXPECT_EQ(server.look(3, false).unanswered_ns, 3 * kSecond / 10);
    });
    if (!ran) GTEST_SKIP() << "a network namespace and pings need root";
}

TEST(ServerPath, PingsThatFailWhileDataComeProveNothing) {
    const bool ran = with_a_server([](PingedServer& server) {
        answer_pings(false);
        server.look(20, true);
        const SystemSample::Path silent = server.look(20, false);
        EXPECT_EQ(silent.unanswered_ns, 0);
        answer_pings(true);
        EXPECT_GT(server.look(5, false).quiet_answers, silent.quiet_answers) << "it answers again";
        answer_pings(false);
        EXPECT_GT(server.look(5, false).unanswered_ns, 0);
    });
    if (!ran) GTEST_SKIP() << "a network namespace and pings need root";
}

}  // namespace
}  // namespace streamsim::host
