#include "host/handshakes.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "host/connections.h"

namespace streamsim::host {
namespace {

/// A longer round trip counts as no answer.
constexpr std::int64_t kAnswerTimeoutNs = 3'000'000'000;
constexpr std::size_t kPendingMax = 32;

std::optional<std::int64_t> rtt_of(int fd) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_rtt == 0) return std::nullopt;
    return std::int64_t{info.tcpi_rtt} * 1000;
}

}  // namespace

Handshakes::~Handshakes() {
    for (const Pending& each : pending_) close(each.fd);
}

bool Handshakes::begin(const std::string& peer, std::uint16_t port, bool ipv6, std::int64_t now_ns) {
    if (pending_.size() >= kPendingMax) return false;
    const int family = ipv6 ? AF_INET6 : AF_INET;
    sockaddr_in to4{};
    sockaddr_in6 to6{};
    to4.sin_family = AF_INET;
    to6.sin6_family = AF_INET6;
    to4.sin_port = to6.sin6_port = htons(port);
    void* const number = ipv6 ? static_cast<void*>(&to6.sin6_addr) : static_cast<void*>(&to4.sin_addr);
    if (inet_pton(family, peer.c_str(), number) != 1) return false;
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    const auto* to = ipv6 ? reinterpret_cast<const sockaddr*>(&to6) : reinterpret_cast<const sockaddr*>(&to4);
    if (connect(fd, to, ipv6 ? sizeof to6 : sizeof to4) == 0 || errno == EINPROGRESS) {
        pending_.push_back({fd, now_ns});
        return true;
    }
    const int error = errno;
    close(fd);
    if (error == ECONNREFUSED) at_once_.any = at_once_.refused = true;  // on this computer itself
    return error == ECONNREFUSED || is_unreachable(error);
}

Handshakes::Answers Handshakes::receive(std::int64_t now_ns) {
    Answers answers = std::exchange(at_once_, {});
    for (auto each = pending_.begin(); each != pending_.end();) {
        pollfd waiting{each->fd, POLLOUT, 0};
        int error = 0;
        socklen_t size = sizeof error;
        const bool settled = poll(&waiting, 1, 0) > 0;
        if (settled && getsockopt(each->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
            (error == 0 || error == ECONNREFUSED || error == ECONNRESET)) {
            answers.any = true;
            answers.refused |= error != 0;
            if (error == 0) answers.rtt_ns = rtt_of(each->fd);
        }
        if (settled || now_ns - each->begun_ns > kAnswerTimeoutNs) {
            close(each->fd);
            each = pending_.erase(each);
        } else {
            ++each;
        }
    }
    return answers;
}

}  // namespace streamsim::host
