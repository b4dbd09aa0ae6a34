// Servers that are none: what connecting to them comes to, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "loop/uv_loop.h"
#include "storage/nfs/nfs_byte_store.h"
#include "storage/nfs/nfs_link.h"
#include "storage/nfs/nfs_requests.h"
#include "storage/nfs/nfs_storage.h"

namespace streamsim::storage {
namespace {

using testing::HasSubstr;

/// Accepts, and then does one thing.
class BadServer {
public:
    enum class Way { silent, closes, garbage, countless, drips };

    explicit BadServer(Way way) : way_(way), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(listen(listener_, 50), 0);
        EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
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
            if (way_ == Way::closes) {
                ::close(each);
                continue;
            }
            accepted_.push_back(each);
            if (way_ == Way::countless) answer_countless(each);
            if (way_ == Way::drips) dripping_.emplace_back([this, each] { drip(each); });
            if (way_ != Way::garbage) continue;
            std::array<char, 300> bytes{};
            bytes.fill('x');
            [[maybe_unused]] const ssize_t sent = send(each, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        }
    }

    /// A reply that succeeds, to whatever was asked, with lists of four thousand million items.
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

    /// An answer of a million bytes, fifty of them a second.
    void drip(int connection) const {
        const std::array<unsigned char, 4> mark{0x80, 0x0f, 0x42, 0x40};
        for (std::size_t i = 0; !ended_; ++i) {
            const unsigned char byte = i < mark.size() ? mark[i] : 0;
            if (send(connection, &byte, 1, MSG_NOSIGNAL) != 1) return;
            usleep(20'000);
        }
    }

    const Way way_;
    const int listener_;
    std::atomic<bool> ended_{false};
    std::vector<std::thread> dripping_;
    std::uint16_t port_ = 0;
    std::vector<int> accepted_;
    std::thread thread_;
};

class NfsBadServer : public testing::TestWithParam<BadServer::Way> {};

TEST_P(NfsBadServer, is_an_error_that_names_it_in_time) {
    const BadServer server(GetParam());
    for (const std::uint32_t version : {3U, 4U}) {
        loop::UvLoop loop;
        const Instant begin = loop.now();
        const auto storage = make_nfs_storage(loop, loop.uv(), server.place(version), "/export/dir", {});
        ASSERT_FALSE(storage);
        EXPECT_EQ(storage.error().kind, ErrorKind::environment);
        EXPECT_THAT(storage.error().problems.front(), HasSubstr("nfs://127.0.0.1/export/dir: "));
        if (GetParam() == BadServer::Way::silent) {
            EXPECT_THAT(storage.error().problems.front(), HasSubstr("127.0.0.1 at port "));
        }
        const auto listed = make_nfs_byte_store(server.place(version), "/export/dir")->list("/export/dir");
        ASSERT_FALSE(listed);
        EXPECT_THAT(listed.error().problems.front(), HasSubstr("nfs://127.0.0.1/export/dir: "));
        EXPECT_LT(loop.now() - begin, seconds(30)) << "of a fraction of a second each";
    }
}

/// Serves `link` until `enough`, with a clock that goes on by 100 ms at each turn.
template <typename Enough>
void serve(NfsLink& link, int epoll, Instant& now, Enough enough) {
    for (int turn = 0; turn < 1000 && !enough(); ++turn) {
        epoll_event event{};
        ASSERT_GE(epoll_wait(epoll, &event, 1, 5000), 0);
        now = now + milliseconds(100);
        ASSERT_TRUE(link.service(event.events, now)) << link.trouble();
    }
}

TEST(NfsLink, a_server_that_drips_is_not_heard) {
    const BadServer server(BadServer::Way::drips);
    const RemotePlace place = server.place(3);
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    NfsCall call{[](void*, NfsCall&, const NfsReply&) {}, nullptr};  // the link answers it when it ends
    {
        NfsLink link(place, epoll, nullptr);
        Instant now{1'000'000'000};
        ASSERT_TRUE(link.connect(place.host, place.port, now));
        serve(link, epoll, now, [&] { return link.state() == NfsLink::State::connected; });
        ASSERT_TRUE(nfs_ask_exports(link, call, now));
        const Instant asked = now;
        ASSERT_TRUE(link.flush());
        int turns = 0;
        serve(link, epoll, now, [&] { return ++turns > 30; });
        EXPECT_EQ(link.outstanding(), 1U);
        EXPECT_EQ(link.heard().ns, asked.ns);
    }
    close(epoll);
}

TEST(NfsNoServer, is_said_at_once) {
    RemotePlace place;
    place.host = "127.0.0.1";
    place.port = place.mount_port = 1;
    loop::UvLoop loop;
    const auto storage = make_nfs_storage(loop, loop.uv(), place, "/export", {});
    ASSERT_FALSE(storage);
    EXPECT_THAT(storage.error().problems.front(), HasSubstr("refuses the connection"));
}

std::string name_of(const testing::TestParamInfo<BadServer::Way>& instance) {
    switch (instance.param) {
        case BadServer::Way::silent: return "silent";
        case BadServer::Way::closes: return "closes";
        case BadServer::Way::garbage: return "garbage";
        case BadServer::Way::countless: return "countless";
        case BadServer::Way::drips: return "drips";
    }
    return "none";
}

INSTANTIATE_TEST_SUITE_P(All,
                         NfsBadServer,
                         testing::Values(BadServer::Way::silent,
                                         BadServer::Way::closes,
                                         BadServer::Way::garbage,
                                         BadServer::Way::countless,
                                         BadServer::Way::drips),
                         name_of);

}  // namespace
}  // namespace streamsim::storage
