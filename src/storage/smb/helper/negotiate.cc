#include "storage/smb/helper/negotiate.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <memory>
#include <span>
#include <vector>

#include "base/byte_order.h"
#include "storage/file_descriptor.h"

namespace streamsim::storage {
namespace {

constexpr std::array<std::uint16_t, 5> kDialects{0x0202, 0x0210, 0x0300, 0x0302, 0x0311};
constexpr std::size_t kHeaderBytes = 64;        // every SMB 2 message has one
constexpr std::size_t kAnswerBytesMax = 65536;  // with the server's security token
constexpr std::size_t kSaltBytes = 32;

std::int64_t now_ms() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

/// A message in SMB's byte order, little-endian.
class Message {
public:
    void add(std::uint64_t value, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    void zeroes(std::size_t count) { bytes_.insert(bytes_.end(), count, 0); }
    const std::vector<std::uint8_t>& bytes() const { return bytes_; }

private:
    std::vector<std::uint8_t> bytes_;
};

/// A NEGOTIATE request with all dialects that libsmbclient may use, in SMB's framing for TCP.
std::vector<std::uint8_t> negotiate_request() {
    constexpr std::size_t kFixedBytes = 36;
    constexpr std::size_t kContextsAt = (kHeaderBytes + kFixedBytes + 2 * kDialects.size() + 7) / 8 * 8;
    Message message;
    message.add(0x424D53FE, 4);  // 0xFE "SMB"
    message.add(kHeaderBytes, 2);
    message.zeroes(8);   // credit charge, status, command: NEGOTIATE
    message.add(1, 2);   // credits requested
    message.zeroes(48);  // flags, next command, message 0, reserved, tree, session, signature
    message.add(kFixedBytes, 2);
    message.add(kDialects.size(), 2);
    message.add(1, 2);  // signing enabled
    message.zeroes(2);
    message.add(0x04, 4);                // large reads
    message.add(0x6D69736D61657274, 8);  // the client's id; any number will do
    message.add(static_cast<std::uint64_t>(getpid()), 8);
    message.add(kContextsAt, 4);
    message.add(1, 2);  // context
    message.zeroes(2);
    for (const std::uint16_t dialect : kDialects) message.add(dialect, 2);
    message.zeroes(kContextsAt - message.bytes().size());
    message.add(1, 2);  // pre-authentication integrity, which 3.1.1 requires
    message.add(6 + kSaltBytes, 2);
    message.zeroes(4);
    message.add(1, 2);  // algorithm
    message.add(kSaltBytes, 2);
    message.add(1, 2);  // SHA-512
    message.zeroes(kSaltBytes);
    std::vector<std::uint8_t> framed(4 + message.bytes().size());
    framed[2] = static_cast<std::uint8_t>(message.bytes().size() >> 8);
    framed[3] = static_cast<std::uint8_t>(message.bytes().size());
    std::copy(message.bytes().begin(), message.bytes().end(), framed.begin() + 4);
    return framed;
}

struct FreeAddresses {
    void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

/// A connection with one time limit for all its steps.
class Connection {
public:
    explicit Connection(std::int64_t deadline_ms) : deadline_ms_(deadline_ms) {}

    /// Returns zero or an errno.
    int connect(const addrinfo& to) {
        socket_ = FileDescriptor();
        socket_ = FileDescriptor(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
        if (!socket_) return errno;
        if (::connect(socket_.get(), to.ai_addr, to.ai_addrlen) == 0) return 0;
        if (errno != EINPROGRESS) return errno;
        if (const int error = wait_for(POLLOUT); error != 0) return error;
        int error = 0;
        socklen_t size = sizeof(error);
        getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        return error;
    }

    int send_all(std::span<const std::uint8_t> bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent >= 0) {
                bytes = bytes.subspan(static_cast<std::size_t>(sent));
            } else if (const int error = errno == EAGAIN ? wait_for(POLLOUT) : errno; error != 0) {
                return error;
            }
        }
        return 0;
    }

    int receive_all(std::span<std::uint8_t> into) {
        while (!into.empty()) {
            const ssize_t got = recv(socket_.get(), into.data(), into.size(), 0);
            if (got == 0) return ECONNRESET;
            if (got > 0) {
                into = into.subspan(static_cast<std::size_t>(got));
            } else if (const int error = errno == EAGAIN ? wait_for(POLLIN) : errno; error != 0) {
                return error;
            }
        }
        return 0;
    }

private:
    int wait_for(short events) {
        pollfd poll_on{socket_.get(), events, 0};
        for (;;) {
            const std::int64_t left = deadline_ms_ - now_ms();
            const int ready = left > 0 ? poll(&poll_on, 1, static_cast<int>(left)) : 0;
            if (ready > 0) return 0;
            if (ready == 0) return ETIMEDOUT;
            if (errno != EINTR) return errno;
        }
    }

    std::int64_t deadline_ms_;
    FileDescriptor socket_;
};

int exchange(Connection& connection, Negotiated& found) {
    if (const int error = connection.send_all(negotiate_request()); error != 0) return error;
    std::array<std::uint8_t, 4> frame{};
    if (const int error = connection.receive_all(frame); error != 0) return error;
    const std::size_t bytes = std::size_t{frame[1]} << 16 | std::size_t{frame[2]} << 8 | frame[3];
    if (frame[0] != 0 || bytes > kAnswerBytesMax) return EPROTO;
    std::vector<std::uint8_t> answer(bytes);
    if (const int error = connection.receive_all(answer); error != 0) return error;
    return read_negotiated(std::as_bytes(std::span(answer)), found);
}

}  // namespace

int read_negotiated(std::span<const std::byte> message, Negotiated& found) {
    constexpr std::size_t kEnough = kHeaderBytes + 36;
    if (message.size() < kEnough) return EPROTO;
    const bool is_smb2 =
        load<std::uint32_t>(message, 0, false) == 0x424D53FE && load<std::uint16_t>(message, 12, false) == 0;
    if (!is_smb2 || load<std::uint32_t>(message, 8, false) != 0) return EPROTO;
    found.dialect = load<std::uint16_t>(message, kHeaderBytes + 4, false);
    found.read_bytes = load<std::uint32_t>(message, kHeaderBytes + 32, false);
    return std::find(kDialects.begin(), kDialects.end(), found.dialect) != kDialects.end() ? 0 : EPROTO;
}

Negotiated negotiate(const std::string& host, std::uint32_t port, std::uint32_t timeout_ms) {
    Negotiated found;
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list) != 0) {
        found.error = EHOSTUNREACH;
        return found;
    }
    const std::unique_ptr<addrinfo, FreeAddresses> addresses(list);
    Connection connection(now_ms() + timeout_ms);
    found.step = SmbStep::reach_port;
    const addrinfo* at = list;
    for (; at != nullptr; at = at->ai_next) {
        found.error = connection.connect(*at);
        if (found.error == 0) break;
    }
    if (found.error != 0) return found;
    std::array<char, NI_MAXHOST> number{};
    getnameinfo(at->ai_addr, at->ai_addrlen, number.data(), number.size(), nullptr, 0, NI_NUMERICHOST);
    found.address = number.data();
    found.step = SmbStep::get_answer;
    found.error = exchange(connection, found);
    return found;
}

}  // namespace streamsim::storage
