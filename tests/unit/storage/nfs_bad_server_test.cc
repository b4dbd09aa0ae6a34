// Connecting to servers that do not speak NFS: the error, and the time that it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "loop/uv_loop.h"
#include "loopback.h"
#include "storage/backends.h"
#include "storage/nfs/nfs_library.h"
#include "storage/nfs/nfs_requests.h"
#include "storage/nfs/nfs_transport.h"

namespace streamsim::storage {
namespace {

using testing::HasSubstr;

/// A server that accepts connections and then misbehaves in one way.
class BadServer {
public:
    enum class Behaviour { silent, closes, garbage, countless, drips };

    explicit BadServer(Behaviour behaviour)
        : behaviour_(behaviour), listener_(tests::listen_on_loopback(port_)) {
        thread_ = std::thread([this] { serve(); });
    }
    ~BadServer() {
        shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ended_ = true;
        for (std::thread& each : dripping_) each.join();
        for (const int each : accepted_) ::close(each);
        ::close(listener_);
    }
    BadServer(const BadServer&) = delete;
    BadServer& operator=(const BadServer&) = delete;

    RemotePlace place(std::uint32_t version) const {
        RemotePlace place;
        place.host = "127.0.0.1";
        place.port = place.mount_port = port_;
        place.version = version;
        place.timeout = milliseconds(300);
        return place;
    }

private:
    void serve() {
        for (;;) {
            const int each = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (each < 0) return;
            if (behaviour_ == Behaviour::closes) {
                ::close(each);
                continue;
            }
            accepted_.push_back(each);
            if (behaviour_ == Behaviour::countless) answer_countless(each);
            if (behaviour_ == Behaviour::drips) dripping_.emplace_back([this, each] { drip(each); });
            if (behaviour_ != Behaviour::garbage) continue;
            std::array<char, 300> bytes{};
            bytes.fill('x');
            [[maybe_unused]] const ssize_t sent = send(each, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        }
    }

    /// Replies to every request with success, and with lists of four thousand million items.
    static void answer_countless(int connection) {
        std::array<std::uint32_t, 64> reply{};
        reply.fill(0xffffffffU);
        std::array<std::uint32_t, 1024> question{};
        if (recv(connection, question.data(), sizeof question, 0) < 8) return;
        reply[0] = htonl(0x80000000U | (sizeof reply - 4));
        reply[1] = question[1];
        reply[2] = htonl(1);                            // a reply
        reply[3] = reply[4] = reply[5] = reply[6] = 0;  // accepted, no verifier, executed
        reply[7] = 0;                                   // no error
        [[maybe_unused]] const ssize_t sent = send(connection, reply.data(), sizeof reply, MSG_NOSIGNAL);
    }

    /// Replies with a million bytes, at fifty bytes a second.
    void drip(int connection) const {
        const std::array<unsigned char, 4> mark{0x80, 0x0f, 0x42, 0x40};
        for (std::size_t i = 0; !ended_; ++i) {
            const unsigned char byte = i < mark.size() ? mark[i] : 0;
            if (send(connection, &byte, 1, MSG_NOSIGNAL) != 1) return;
            usleep(20'000);
        }
    }

    const Behaviour behaviour_;
    std::uint16_t port_ = 0;
    const int listener_;
    std::atomic<bool> ended_{false};
    std::vector<std::thread> dripping_;
    std::vector<int> accepted_;
    std::thread thread_;
};

class NfsBadServer : public testing::TestWithParam<BadServer::Behaviour> {};

TEST_P(NfsBadServer, IsAnErrorThatNamesItInTime) {
    const BadServer server(GetParam());
    for (const std::uint32_t version : {3U, 4U}) {
        loop::UvLoop loop;
        const Instant begin = loop.now();
        const auto storage = make_nfs_storage(loop, loop.uv(), server.place(version), "/export/dir", {});
        ASSERT_FALSE(storage);
        EXPECT_EQ(storage.error().kind, ErrorKind::environment);
        EXPECT_THAT(storage.error().problems.front(), HasSubstr("nfs://127.0.0.1/export/dir: "));
        if (GetParam() == BadServer::Behaviour::silent) {
            EXPECT_THAT(storage.error().problems.front(), HasSubstr("127.0.0.1 at port "));
        }
        const auto listed = make_nfs_byte_store(server.place(version), "/export/dir")->list("/export/dir");
        ASSERT_FALSE(listed);
        EXPECT_THAT(listed.error().problems.front(), HasSubstr("nfs://127.0.0.1/export/dir: "));
        EXPECT_LT(loop.now() - begin, seconds(30)) << "of a fraction of a second each";
    }
}

/// Serves `transport` until `enough`, with a clock that advances 100 ms in each turn.
template <typename Enough>
void serve(NfsTransport& transport, Instant& now, Enough enough) {
    for (int turn = 0; turn < 1000 && !enough(); ++turn) {
        pollfd socket = transport.polled().value();
        poll_sockets({&socket, 1}, seconds(5));
        now = now + milliseconds(100);
        ASSERT_TRUE(transport.service(socket.revents, now)) << transport.problem();
    }
}

TEST(NfsTransport, AServerThatDripsIsNotHeard) {
    const BadServer server(BadServer::Behaviour::drips);
    const RemotePlace place = server.place(3);
    NfsCall call{[](void*, NfsCall&, const NfsReply&) {}, nullptr};  // answered when the transport is destroyed
    NfsTransport transport(place);
    Instant now{1'000'000'000};
    ASSERT_TRUE(transport.connect(place.host, place.port, now));
    serve(transport, now, [&] { return transport.state() == NfsTransport::State::connected; });
    ASSERT_TRUE(nfs_ask_exports(transport, call, now));
    const Instant asked = now;
    ASSERT_TRUE(transport.flush());
    int turns = 0;
    serve(transport, now, [&] { return ++turns > 30; });
    EXPECT_EQ(transport.outstanding(), 1U);
    EXPECT_EQ(transport.heard().ns, asked.ns);
}

/// libnfs's own check takes such a length for a negative number.
TEST(NfsReplies, ALengthBeyondTheReplyIsRefused) {
    for (const std::uint32_t length : {0x81818181U, 0xffffffffU, 0x7fffffffU, 13U}) {
        std::array<std::uint32_t, 4> reply{htonl(length), 0, 0, 0};
        ZDR zdr{};
        libnfs_zdrmem_create(&zdr, reinterpret_cast<char*>(reply.data()), sizeof reply, ZDR_DECODE);
        char* bytes = nullptr;
        std::uint32_t count = 0;
        EXPECT_EQ(libnfs_zdr_bytes(&zdr, &bytes, &count, UINT32_MAX), 0) << length;
        libnfs_zdrmem_create(&zdr, reinterpret_cast<char*>(reply.data()), sizeof reply, ZDR_DECODE);
        char* text = nullptr;
        EXPECT_EQ(libnfs_zdr_string(&zdr, &text, UINT32_MAX), 0) << length;
    }
    std::array<std::uint32_t, 4> reply{htonl(12), 0, 0, 0};
    ZDR zdr{};
    std::array<char, sizeof reply + 1> fixed{};
    libnfs_zdrmem_create(&zdr, reinterpret_cast<char*>(reply.data()), sizeof reply, ZDR_DECODE);
    EXPECT_EQ(libnfs_zdr_opaque(&zdr, fixed.data(), sizeof fixed), 0);
    EXPECT_EQ(libnfs_zdr_opaque(&zdr, fixed.data(), sizeof reply), 1);
    libnfs_zdrmem_create(&zdr, reinterpret_cast<char*>(reply.data()), sizeof reply, ZDR_DECODE);
    char* bytes = nullptr;
    std::uint32_t count = 0;
    EXPECT_EQ(libnfs_zdr_bytes(&zdr, &bytes, &count, UINT32_MAX), 1);
    EXPECT_EQ(count, 12U);
    EXPECT_TRUE(bytes == reinterpret_cast<char*>(&reply[1]));
}

TEST(SocketWatch, WakesTheLoopUntilItStops) {
    std::array<int, 2> sockets{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
    ASSERT_EQ(send(sockets[1], "x", 1, MSG_NOSIGNAL), 1);
    uv_loop_t loop{};
    ASSERT_EQ(uv_loop_init(&loop), 0);
    uv_timer_t timer{};
    bool timed_out = false;
    timer.data = &timed_out;
    uv_timer_init(&loop, &timer);
    const auto wait = [&](std::uint64_t timeout_ms) {
        uv_run(&loop, UV_RUN_NOWAIT);  // ends handles that were closed
        uv_timer_start(
            &timer, [](uv_timer_t* each) { *static_cast<bool*>(each->data) = true; }, timeout_ms, 0);
        uv_run(&loop, UV_RUN_ONCE);
        return !timed_out;
    };
    SocketWatch watch;
    watch.watch(&loop, sockets[0], POLLIN);
    EXPECT_TRUE(wait(20'000));
    watch.watch(&loop, sockets[1], POLLIN);  // nothing to read
    EXPECT_FALSE(wait(20));
    timed_out = false;
    watch.watch(&loop, sockets[1], POLLIN | POLLOUT);
    EXPECT_TRUE(wait(20'000));
    watch.stop();
    EXPECT_FALSE(wait(20));
    uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
    while (uv_run(&loop, UV_RUN_NOWAIT) != 0) {
    }
    EXPECT_EQ(uv_loop_close(&loop), 0) << "a handle is left";
    close(sockets[0]);
    close(sockets[1]);
}

TEST(NfsNoServer, IsSaidAtOnce) {
    RemotePlace place;
    place.host = "127.0.0.1";
    place.port = place.mount_port = 1;
    loop::UvLoop loop;
    const auto storage = make_nfs_storage(loop, loop.uv(), place, "/export", {});
    ASSERT_FALSE(storage);
    EXPECT_THAT(storage.error().problems.front(), HasSubstr("refuses the connection"));
    place.host = "::1";
    const auto numbered = make_nfs_storage(loop, loop.uv(), place, "/export", {});
    ASSERT_FALSE(numbered);
    EXPECT_THAT(numbered.error().problems.front(), HasSubstr("nfs://[::1]/export: ")) << "as it is typed";
}

std::string name_of(const testing::TestParamInfo<BadServer::Behaviour>& instance) {
    switch (instance.param) {
        case BadServer::Behaviour::silent: return "silent";
        case BadServer::Behaviour::closes: return "closes";
        case BadServer::Behaviour::garbage: return "garbage";
        case BadServer::Behaviour::countless: return "countless";
        case BadServer::Behaviour::drips: return "drips";
    }
    return "none";
}

INSTANTIATE_TEST_SUITE_P(All,
                         NfsBadServer,
                         testing::Values(BadServer::Behaviour::silent,
                                         BadServer::Behaviour::closes,
                                         BadServer::Behaviour::garbage,
                                         BadServer::Behaviour::countless,
                                         BadServer::Behaviour::drips),
                         name_of);

}  // namespace
}  // namespace streamsim::storage
