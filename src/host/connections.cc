#include "host/connections.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

namespace streamsim::host {
namespace {

constexpr std::uint32_t kEstablished = 1U << 1;  // TCP_ESTABLISHED, as the kernel counts its states

std::string address_text(int family, const void* address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (inet_ntop(family, address, text.data(), text.size()) == nullptr) return {};
    return text.data();
}

/// The number of an internet address, without its port.
std::string address_text(const sockaddr& address) {
    const void* number = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    if (address.sa_family == AF_INET6) number = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    return address_text(address.sa_family, number);
}

bool is_ipv6(const std::string& number) {
    return number.find(':') != std::string::npos;
}

/// An internet address for the calls of sockets.
struct SocketAddress {
    SocketAddress(const std::string& number, std::uint16_t port) {
        auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
        auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
        storage.ss_family = is_ipv6(number) ? AF_INET6 : AF_INET;
        v4.sin_port = htons(port);  // at the same place in both
        size = is_ipv6(number) ? sizeof v6 : sizeof v4;
        void* const into = is_ipv6(number) ? static_cast<void*>(&v6.sin6_addr) : &v4.sin_addr;
        valid = inet_pton(storage.ss_family, number.c_str(), into) == 1;
    }
    int family() const { return storage.ss_family; }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }

    sockaddr_storage storage{};
    socklen_t size = 0;
    bool valid = false;
};

/// The errno value means that our packets do not reach the peer.
bool is_unreachable(int error) {
    return error == ENETUNREACH || error == EHOSTUNREACH || error == ENETDOWN || error == EHOSTDOWN;
}

/// Rounds up to netlink's alignment.
constexpr std::size_t aligned(std::size_t length) {
    return (length + 3) & ~std::size_t{3};
}

/// `message` follows the header of netlink.
TcpConnection connection_of(std::string_view message) {
    inet_diag_msg head{};
    TcpConnection out;
    if (message.size() < sizeof head) return out;
    std::memcpy(&head, message.data(), sizeof head);
    out.peer = address_text(head.idiag_family, head.id.idiag_dst);
    out.peer_port = ntohs(head.id.idiag_dport);
    out.id = address_text(head.idiag_family, head.id.idiag_src) + ":" +
             std::to_string(ntohs(head.id.idiag_sport)) + " " + out.peer + ":" +
             std::to_string(ntohs(head.id.idiag_dport));
    rtattr attribute{};
    for (message.remove_prefix(aligned(sizeof head)); message.size() >= sizeof attribute;
         message.remove_prefix(std::min(message.size(), aligned(attribute.rta_len)))) {
        std::memcpy(&attribute, message.data(), sizeof attribute);
        if (attribute.rta_len < sizeof attribute || attribute.rta_len > message.size()) break;
        if (attribute.rta_type != INET_DIAG_INFO) continue;
        tcp_info info{};
        std::memcpy(&info, message.data() + sizeof attribute,
                    std::min(attribute.rta_len - sizeof attribute, sizeof info));
        out.received_bytes = info.tcpi_bytes_received;
        out.acknowledged_bytes = info.tcpi_bytes_acked;
        out.received_segments = info.tcpi_data_segs_in;
        out.out_of_order = info.tcpi_rcv_ooopack;
        out.sent_segments = info.tcpi_data_segs_out;
        // Segments that the peer had received were not lost: their acknowledgement was late.
        out.resent = info.tcpi_total_retrans - std::min(info.tcpi_total_retrans, info.tcpi_dsack_dups);
        out.unacknowledged = info.tcpi_unacked > 0 && info.tcpi_retransmits > 0;
        out.rtt_ns = std::int64_t{info.tcpi_rtt} * 1000;
        out.rtt_min_ns = std::int64_t{info.tcpi_min_rtt} * 1000;
    }
    return out;
}

enum class Listing : std::uint8_t { goes_on, complete, broken };

Listing take_answer(std::string_view answer, std::vector<TcpConnection>& into) {
    nlmsghdr header{};
    while (answer.size() >= sizeof header) {
        std::memcpy(&header, answer.data(), sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > answer.size()) return Listing::broken;
        if (header.nlmsg_type == NLMSG_DONE) return Listing::complete;
        if (header.nlmsg_type == NLMSG_ERROR) return Listing::broken;
        into.push_back(connection_of(answer.substr(sizeof header, header.nlmsg_len - sizeof header)));
        answer.remove_prefix(std::min(answer.size(), aligned(header.nlmsg_len)));
    }
    return Listing::goes_on;
}

/// False: the list is not complete.
bool dump_family(int fd, int family, std::vector<TcpConnection>& into) {
    struct {
        nlmsghdr header;
        inet_diag_req_v2 request;
    } message{};
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.request.sdiag_family = static_cast<std::uint8_t>(family);
    message.request.sdiag_protocol = IPPROTO_TCP;
    message.request.idiag_states = kEstablished;
    message.request.idiag_ext = 1U << (INET_DIAG_INFO - 1);
    if (send(fd, &message, sizeof message, 0) < 0) return false;
    std::vector<char> buffer(32768);
    Listing listing = Listing::goes_on;
    while (listing == Listing::goes_on) {
        const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
        if (got <= 0) return false;
        listing = take_answer({buffer.data(), static_cast<std::size_t>(got)}, into);
    }
    return listing == Listing::complete;
}

/// The checksum of the Internet protocols, over an even number of bytes.
std::uint16_t checksum(const void* data, std::size_t bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i + 1 < bytes; i += 2) {
        std::uint16_t word = 0;
        std::memcpy(&word, static_cast<const char*>(data) + i, sizeof word);
        sum += word;
    }
    while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

std::int64_t wall_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);  // the clock of the kernel's stamps
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// The payload of a ping, which the answer returns.
struct Payload {
    std::uint64_t mark = 0;
    std::int64_t sent_ns = 0;
};
/// The first of this process's: each pinger has its own, so that none takes the answer of another host.
constexpr std::uint64_t kMark = 0x73747265616d7369;

struct Request {  // of either version: type, code, checksum, identifier, sequence
    std::uint8_t type = 0;
    std::uint8_t code = 0;
    std::uint16_t sum = 0;
    std::uint16_t id = 0;
    std::uint16_t sequence = 0;
    Payload payload;
};

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

std::optional<std::vector<TcpConnection>> tcp_connections() {
    std::vector<TcpConnection> all;
    const int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0) return std::nullopt;
    const bool complete = dump_family(fd, AF_INET, all);
    (void)dump_family(fd, AF_INET6, all);  // a kernel may be without it
    close(fd);
    if (!complete) return std::nullopt;
    return all;
}

std::optional<std::string> interface_toward(const std::string& address) {
    // Connecting a datagram socket sends nothing, but gives it its source address.
    const SocketAddress to(address, 9);
    if (!to.valid) return std::nullopt;
    sockaddr_storage from{};
    auto* const own = reinterpret_cast<sockaddr*>(&from);
    socklen_t length = sizeof from;
    const int fd = socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool known = fd >= 0 && connect(fd, to.get(), to.size) == 0 && getsockname(fd, own, &length) == 0;
    if (fd >= 0) close(fd);
    if (!known) return std::nullopt;
    const std::string source = address_text(*own);
    if (source == address_text(*to.get())) return "lo";
    std::optional<std::string> found;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return std::nullopt;
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != to.family()) continue;
        if (address_text(*each->ifa_addr) != source) continue;
        const std::string_view label = each->ifa_name;  // "eth0:1" for a second address
        found = label.substr(0, label.find(':'));
    }
    freeifaddrs(all);
    return found;
}

bool has_carrier(const std::string& interface) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return true;  // unknown counts as up
    ifreq request{};
    interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
    const bool there = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
    close(fd);
    const unsigned flags = there ? static_cast<unsigned short>(request.ifr_flags) : 0U;
    return (flags & IFF_UP) != 0 && (flags & IFF_RUNNING) != 0;
}

Pinger::~Pinger() {
    if (fd_ >= 0) close(fd_);
}

void Pinger::aim_at(const std::string& peer) {
    if (peer == peer_) return;
    static std::atomic<std::uint64_t> marks{kMark};
    mark_ = marks++;
    if (fd_ >= 0) close(fd_);
    peer_ = peer;
    const int family = is_ipv6(peer) ? AF_INET6 : AF_INET;
    const int protocol = is_ipv6(peer) ? static_cast<int>(IPPROTO_ICMPV6) : static_cast<int>(IPPROTO_ICMP);
    // Any user may open the first kind where the administrator allows it, only root the second.
    fd_ = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    raw_ = fd_ < 0;
    if (raw_) fd_ = socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    const int on = 1;
    if (fd_ >= 0) setsockopt(fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

bool Pinger::send() {
    if (fd_ < 0) return false;
    Request request;
    request.type = is_ipv6(peer_) ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
    request.id = htons(static_cast<std::uint16_t>(getpid()));
    request.sequence = htons(++sequence_);
    request.payload = {mark_, wall_ns()};
    if (!is_ipv6(peer_)) request.sum = checksum(&request, sizeof request);  // else the kernel computes it
    const SocketAddress to(peer_, 0);
    if (!to.valid) return false;
    return sendto(fd_, &request, sizeof request, MSG_DONTWAIT, to.get(), to.size) >= 0 || is_unreachable(errno);
}

bool Pinger::receive(int wait_ms) {
    bool any = false;
    pollfd waiting{fd_, POLLIN, 0};  // a negative fd waits for nothing
    if (poll(&waiting, 1, wait_ms) > 0) {
        while (take_one()) any = true;
    }
    return any;
}

bool Pinger::take_one() {
    alignas(cmsghdr) std::array<char, 256> control{};
    std::array<char, 512> packet{};
    iovec part{packet.data(), packet.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    for (;;) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        const ssize_t got = recvmsg(fd_, &message, MSG_DONTWAIT);
        if (got < 0) return false;
        // A raw socket of version 4 delivers the IP header too, and the packets of all processes.
        const std::size_t skip = raw_ && !is_ipv6(peer_) ? (static_cast<unsigned>(packet[0]) & 0xf) * 4 : 0;
        Request answer;
        if (static_cast<std::size_t>(got) < skip + sizeof answer) continue;
        std::memcpy(&answer, packet.data() + skip, sizeof answer);
        if (answer.payload.mark != mark_ || answer.type != (is_ipv6(peer_) ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY))
            continue;
        if (raw_ && answer.id != htons(static_cast<std::uint16_t>(getpid()))) continue;
        std::int64_t came_ns = wall_ns();
        cmsghdr head{};
        timespec stamp{};
        if (message.msg_controllen >= CMSG_LEN(sizeof stamp)) {  // the only one that was enabled
            std::memcpy(&head, control.data(), sizeof head);
            std::memcpy(&stamp, control.data() + CMSG_LEN(0), sizeof stamp);
            if (head.cmsg_level == SOL_SOCKET && head.cmsg_type == SCM_TIMESTAMPNS)
                came_ns = std::int64_t{stamp.tv_sec} * 1'000'000'000 + stamp.tv_nsec;
        }
        last_ns_ = std::max<std::int64_t>(came_ns - answer.payload.sent_ns, 0);
        return true;
    }
}

Handshakes::~Handshakes() {
    for (const Pending& each : pending_) close(each.fd);
}

bool Handshakes::begin(const std::string& peer, std::uint16_t port, std::int64_t now_ns) {
    const SocketAddress to(peer, port);
    if (!to.valid || pending_.size() >= kPendingMax) return false;
    const int fd = socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    if (connect(fd, to.get(), to.size) == 0 || errno == EINPROGRESS) {
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
