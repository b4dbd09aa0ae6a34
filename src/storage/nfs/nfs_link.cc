#include "storage/nfs/nfs_link.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "storage/nfs/nfs_library.h"
#include "storage/nfs/nfs_requests.h"

namespace streamsim::storage {
namespace {

constexpr std::size_t kGroupsMax = 16;  // that AUTH_SYS carries
/// Of an answer that is still on its way: so much counts as hearing the server.
constexpr std::uint64_t kGoodPartBytes = 64 * 1024;
/// So long a server may be silent before anybody counts its bytes.
constexpr Duration kCountAfter = milliseconds(200);

}  // namespace

AUTH* make_nfs_auth(const RemotePlace& place) {
    std::array<gid_t, 256> groups{};
    int count = 0;
    if (!place.uid && !place.gid)
        count = std::max(getgroups(static_cast<int>(groups.size()), groups.data()), 0);
    std::array<std::uint32_t, kGroupsMax> sent{};
    const std::size_t some = std::min<std::size_t>(static_cast<std::size_t>(count), kGroupsMax);
    for (std::size_t i = 0; i < some; ++i) sent[i] = groups[i];
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) name[0] = '?';
    return libnfs_authunix_create(name.data(), place.uid.value_or(geteuid()), place.gid.value_or(getegid()),
                                  static_cast<std::uint32_t>(some), sent.data());
}

bool NfsLink::connect(const std::string& address, std::uint16_t port, Instant now) {
    use_nfs_decode_guard();
    nfs_ = nfs_init_context();
    if (nfs_ == nullptr) {
        trouble_ = "libnfs has no memory";
        return false;
    }
    rpc_ = nfs_get_rpc_context(nfs_);
    nfs_set_autoreconnect(nfs_, 0);
    if (AUTH* auth = make_nfs_auth(place_)) rpc_set_auth(rpc_, auth);  // which owns it now
    failed_ = false;
    state_ = State::connecting;
    heard_ = now;
    if (rpc_connect_async(rpc_, address.c_str(), port, on_connected, this) != 0 || failed_) {
        say("it cannot be connected to");
        drop();
        return false;
    }
    register_socket();
    return true;
}

void NfsLink::on_connected(rpc_context*, int status, void*, void* self) {
    auto& link = *static_cast<NfsLink*>(self);
    if (link.state_ != State::connecting) return;
    if (status == RPC_STATUS_SUCCESS) {
        link.state_ = State::connected;
    } else {
        link.failed_ = true;
    }
}

bool NfsLink::service(std::uint32_t events, Instant now) {
    if (rpc_ == nullptr) return false;
    const State before = state_;
    const std::uint64_t answers = answers_;
    if (!run(static_cast<int>(events))) return false;  // poll's names for them are the same numbers
    bool heard = state_ != before || answers_ != answers;
    if (!heard && now - heard_ > kCountAfter) heard = bytes_received() - heard_bytes_ >= kGoodPartBytes;
    if (!heard) return true;
    // Counting costs a system call: not at each of many answers.
    if (now - heard_ > kCountAfter) heard_bytes_ = bytes_received();
    heard_ = now;
    return true;
}

std::uint64_t NfsLink::bytes_received() const {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(rpc_get_fd(rpc_), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    return info.tcpi_bytes_received;
}

bool NfsLink::flush() {
    if (rpc_ == nullptr) return false;
    if ((rpc_which_events(rpc_) & POLLOUT) == 0) return true;
    return run(POLLOUT);
}

std::string NfsLink::not_connected(int events) const {
    int error = 0;
    socklen_t size = sizeof error;
    if ((events & (POLLERR | POLLHUP)) == 0 ||
        getsockopt(rpc_get_fd(rpc_), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error == 0)
        return "it cannot be connected to";
    switch (error) {
        case ECONNREFUSED: return "it refuses the connection";
        case ECONNRESET: return "it resets the connection";
        case ETIMEDOUT: return "it does not answer";
        case EHOSTUNREACH:
        case ENETUNREACH: return fmt::format("there is no route to it: {}", strerrordesc_np(error));
        default: return fmt::format("it cannot be connected to: {}", strerrordesc_np(error));
    }
}

bool NfsLink::run(int events) {
    const std::string why_not = state_ == State::connecting ? not_connected(events) : std::string();
    const bool healthy = rpc_service(rpc_, events) == 0 && !failed_;
    if (healthy && rpc_get_fd(rpc_) >= 0) {
        register_socket();
        return true;
    }
    say(why_not.empty() ? "it closed the connection" : why_not);
    drop();
    return false;
}

void NfsLink::register_socket() {
    const int socket = rpc_get_fd(rpc_);
    epoll_event event{};
    event.data.ptr = user_;
    const int wanted = rpc_which_events(rpc_);
    if ((wanted & POLLIN) != 0) event.events |= EPOLLIN;
    if ((wanted & POLLOUT) != 0) event.events |= EPOLLOUT;
    if (socket == registered_ && event.events == events_) return;
    const int how = socket == registered_ ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(epoll_, how, socket, &event) != 0 && errno == EEXIST)
        epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event);
    registered_ = socket;
    events_ = event.events;
}

void NfsLink::drop() {
    if (nfs_ == nullptr) return;
    measure();
    state_ = State::down;
    if (registered_ >= 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, registered_, nullptr);
    registered_ = -1;
    rpc_ = nullptr;  // nothing is sent by those who are told now
    nfs_destroy_context(std::exchange(nfs_, nullptr));
    retransmitted_before_ += std::exchange(retransmitted_, 0);
}

void NfsLink::sent(NfsCall& call, Instant now) {
    call.link = this;
    if (outstanding_++ == 0) heard_ = now;
}

void NfsLink::measure() {
    if (rpc_ == nullptr || state_ != State::connected) return;
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(rpc_get_fd(rpc_), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return;
    retransmitted_ = info.tcpi_total_retrans;
    rtt_ns_ = std::int64_t{info.tcpi_rtt} * 1000;
}

void NfsLink::say(const std::string& fallback) {
    const char* text = rpc_ == nullptr ? nullptr : rpc_get_error(rpc_);
    // Where the socket has nothing more to tell, libnfs says so.
    const bool mute = text == nullptr || *text == 0 || std::strstr(text, "POLLHUP") != nullptr;
    trouble_ = mute ? fallback : fmt::format("{} ({})", fallback, text);
}

}  // namespace streamsim::storage
