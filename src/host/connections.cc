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
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

namespace streamsim::host {
namespace {

constexpr std::uint32_t kEstablished = 1U << 1;  // TCP_ESTABLISHED, as the kernel counts its states

std::string address_text(int family, const void* address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (inet_ntop(family, address, text.data(), text.size()) == nullptr) return {};
    return text.data();
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
    out.ipv6 = head.idiag_family == AF_INET6;
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

/// False: the list is complete.
bool take_answer(std::string_view answer, std::vector<TcpConnection>& into) {
    nlmsghdr header{};
    while (answer.size() >= sizeof header) {
        std::memcpy(&header, answer.data(), sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > answer.size()) return false;
        if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) return false;
        into.push_back(connection_of(answer.substr(sizeof header, header.nlmsg_len - sizeof header)));
        answer.remove_prefix(std::min(answer.size(), aligned(header.nlmsg_len)));
    }
    return true;
}

void dump_family(int fd, int family, std::vector<TcpConnection>& into) {
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
    if (send(fd, &message, sizeof message, 0) < 0) return;
    std::vector<char> buffer(32768);
    ssize_t got = 0;
    do {
        got = recv(fd, buffer.data(), buffer.size(), 0);
    } while (got > 0 && take_answer({buffer.data(), static_cast<std::size_t>(got)}, into));
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
constexpr std::uint64_t kMark = 0x73747265616d7369;

struct Request {  // of either version: type, code, checksum, identifier, sequence
    std::uint8_t type = 0;
    std::uint8_t code = 0;
    std::uint16_t sum = 0;
    std::uint16_t id = 0;
    std::uint16_t sequence = 0;
    Payload payload;
};

}  // namespace

std::vector<TcpConnection> tcp_connections() {
    std::vector<TcpConnection> all;
    const int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0) return all;
    dump_family(fd, AF_INET, all);
    dump_family(fd, AF_INET6, all);
    close(fd);
    return all;
}

std::optional<std::string> interface_toward(const std::string& address) {
    // Connecting a datagram socket sends nothing, but gives it its source address.
    sockaddr_storage to{};
    sockaddr_storage from{};
    auto& to4 = reinterpret_cast<sockaddr_in&>(to);
    auto& to6 = reinterpret_cast<sockaddr_in6&>(to);
    const bool ipv6 = address.find(':') != std::string::npos;
    to.ss_family = ipv6 ? AF_INET6 : AF_INET;
    to4.sin_port = htons(9);
    void* const number = ipv6 ? static_cast<void*>(&to6.sin6_addr) : static_cast<void*>(&to4.sin_addr);
    if (inet_pton(to.ss_family, address.c_str(), number) != 1) return std::nullopt;
    const int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof from;
    const bool known = fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
                       getsockname(fd, reinterpret_cast<sockaddr*>(&from), &length) == 0;
    if (fd >= 0) close(fd);
    if (!known) return std::nullopt;
    const void* const own = ipv6 ? static_cast<void*>(&reinterpret_cast<sockaddr_in6&>(from).sin6_addr)
                                 : static_cast<void*>(&reinterpret_cast<sockaddr_in&>(from).sin_addr);
    const std::string source = address_text(to.ss_family, own);
    if (source == address_text(to.ss_family, number)) return "lo";
    std::optional<std::string> found;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return std::nullopt;
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != to.ss_family) continue;
        const void* const its =
            ipv6 ? static_cast<void*>(&reinterpret_cast<sockaddr_in6*>(each->ifa_addr)->sin6_addr)
                 : static_cast<void*>(&reinterpret_cast<sockaddr_in*>(each->ifa_addr)->sin_addr);
        if (address_text(to.ss_family, its) == source) found = each->ifa_name;
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

void Pinger::aim_at(const std::string& peer, bool ipv6) {
    if (peer == peer_) return;
    if (fd_ >= 0) close(fd_);
    peer_ = peer;
    ipv6_ = ipv6;
    const int family = ipv6 ? AF_INET6 : AF_INET;
    const int protocol = ipv6 ? static_cast<int>(IPPROTO_ICMPV6) : static_cast<int>(IPPROTO_ICMP);
    // Any user may open the first kind where the administrator allows it, only root the second.
    raw_ = false;
    fd_ = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (fd_ < 0) {
        raw_ = true;
        fd_ = socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    }
    const int on = 1;
    if (fd_ >= 0) setsockopt(fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

bool is_unreachable(int error) {
    return error == ENETUNREACH || error == EHOSTUNREACH || error == ENETDOWN || error == EHOSTDOWN;
}

bool Pinger::send() {
    if (fd_ < 0) return false;
    Request request;
    request.type = ipv6_ ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
    request.id = htons(static_cast<std::uint16_t>(getpid()));
    request.sequence = htons(++sequence_);
    request.payload = {kMark, wall_ns()};
    if (!ipv6_) request.sum = checksum(&request, sizeof request);  // the kernel computes it for version 6
    sockaddr_in to4{};
    sockaddr_in6 to6{};
    to4.sin_family = AF_INET;
    to6.sin6_family = AF_INET6;
    if (inet_pton(ipv6_ ? AF_INET6 : AF_INET, peer_.c_str(),
                  ipv6_ ? static_cast<void*>(&to6.sin6_addr) : static_cast<void*>(&to4.sin_addr)) != 1)
        return false;
    const auto* to = ipv6_ ? reinterpret_cast<const sockaddr*>(&to6) : reinterpret_cast<const sockaddr*>(&to4);
    return sendto(fd_, &request, sizeof request, MSG_DONTWAIT, to, ipv6_ ? sizeof to6 : sizeof to4) >= 0 ||
           is_unreachable(errno);
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
        const std::size_t skip = raw_ && !ipv6_ ? (static_cast<unsigned>(packet[0]) & 0xf) * 4 : 0;
        Request answer;
        if (static_cast<std::size_t>(got) < skip + sizeof answer) continue;
        std::memcpy(&answer, packet.data() + skip, sizeof answer);
        if (answer.payload.mark != kMark || answer.type != (ipv6_ ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY))
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

}  // namespace streamsim::host
