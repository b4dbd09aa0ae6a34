// The first exchange with a server of SMB, with servers that misbehave.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "loopback.h"
#include "storage/smb/helper/negotiate.h"

namespace streamsim::storage {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// An answer of SMB 2 with a dialect, in its frame.
Bytes answer_of(std::uint16_t dialect, std::uint32_t status = 0) {
    Bytes out(4 + 64 + 64);
    out[3] = 128;
    const std::array<std::uint8_t, 4> magic{0xfe, 'S', 'M', 'B'};
    std::copy(magic.begin(), magic.end(), out.begin() + 4);
    for (std::size_t i = 0; i < 4; ++i) out[12 + i] = static_cast<std::uint8_t>(status >> 8 * i);
    out[72] = static_cast<std::uint8_t>(dialect);
    out[73] = static_cast<std::uint8_t>(dialect >> 8);
    out[102] = 1;  // 65536 bytes a read
    return out;
}

/// Negotiates with a server that sends this, byte after byte where it is asked to, and then hangs up or stays.
Negotiated negotiate_with(const Bytes& sent, bool stays = false, bool slowly = false) {
    std::uint16_t port = 0;
    const int listener = tests::listen_on_loopback(port);
    int connection = -1;
    std::thread server([&] {
        pollfd waiting{listener, POLLIN, 0};
        if (poll(&waiting, 1, 20'000) != 1) return;
        connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        std::array<char, 1024> asked{};
        [[maybe_unused]] const ssize_t got = recv(connection, asked.data(), asked.size(), 0);
        for (std::size_t at = 0; at < sent.size();) {
            const ssize_t put = send(connection, sent.data() + at, slowly ? 1 : sent.size() - at, MSG_NOSIGNAL);
            if (put <= 0) break;
            at += static_cast<std::size_t>(put);
            if (slowly) std::this_thread::yield();
        }
        if (!stays) shutdown(connection, SHUT_RDWR);
    });
    const Negotiated found = negotiate("127.0.0.1", port, stays ? 300 : 20'000);
    server.join();
    close(connection);
    close(listener);
    return found;
}

TEST(SmbNegotiate, TakesTheServersDialect) {
    for (const bool slowly : {false, true}) {
        const Negotiated found = negotiate_with(answer_of(0x0311), false, slowly);
        EXPECT_EQ(found.error, 0);
        EXPECT_EQ(found.dialect, 0x0311);
        EXPECT_EQ(found.read_bytes, 65536U);
        EXPECT_EQ(found.address, "127.0.0.1");
    }
}

TEST(SmbNegotiate, RefusesOtherAnswers) {
    const auto error_of = [](Bytes sent) {
        const Negotiated found = negotiate_with(sent);
        EXPECT_EQ(found.step, SmbStep::get_answer);
        return found.error;
    };
    EXPECT_EQ(error_of(answer_of(0x0100)), EPROTO) << "a dialect that was not offered";
    EXPECT_EQ(error_of(answer_of(0x0311, 0xc0000022)), EPROTO) << "a status";
    Bytes old = answer_of(0x0311);
    old[4] = 0xff;
    EXPECT_EQ(error_of(old), EPROTO) << "SMB 1";
    Bytes other = answer_of(0x0311);
    other[16] = 1;
    EXPECT_EQ(error_of(other), EPROTO) << "an answer to another command";
    EXPECT_EQ(error_of({0, 0, 0, 5, 1, 2, 3, 4, 5}), EPROTO) << "too short";
    EXPECT_EQ(error_of({1, 0, 0, 5}), EPROTO) << "no message of a session";
    EXPECT_EQ(error_of({0, 0xff, 0xff, 0xff}), EPROTO) << "too long";
    EXPECT_EQ(error_of({}), ECONNRESET);
    EXPECT_EQ(error_of({0, 0, 0, 200, 0xfe}), ECONNRESET);
}

TEST(SmbNegotiate, WaitsNoLongerThanItMay) {
    EXPECT_EQ(negotiate_with({}, true).error, ETIMEDOUT);
    EXPECT_EQ(negotiate_with({0, 0, 0, 200, 0xfe}, true).error, ETIMEDOUT);
}

TEST(SmbNegotiate, SaysHowFarItCame) {
    const Negotiated unknown = negotiate(std::string(64, 'x') + ".invalid", 445, 5000);
    EXPECT_EQ(unknown.step, SmbStep::find_host);
    EXPECT_NE(unknown.error, 0);
    const Negotiated refused = negotiate("127.0.0.1", 1, 5000);
    EXPECT_EQ(refused.step, SmbStep::reach_port);
    EXPECT_EQ(refused.error, ECONNREFUSED);
    EXPECT_EQ(negotiate("255.255.255.255", 445, 5000).step, SmbStep::reach_port);
}

}  // namespace
}  // namespace streamsim::storage
