#include "storage/nfs/nfs_transport.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "storage/nfs/nfs_library.h"

// libnfs 4 trusts the length of a list in a reply and allocates as much memory: a length of four thousand
// million ends the process. This function replaces libnfs's own of the same name, which the shared library
// calls by name, and checks the length against the bytes of the reply first.
extern "C" bool_t libnfs_zdr_array(ZDR* zdrs,
                                   char** list,
                                   std::uint32_t* count,
                                   std::uint32_t items_max,
                                   std::uint32_t item_bytes,
                                   zdrproc_t item) {
    using Original = decltype(&libnfs_zdr_array);
    static const auto original = reinterpret_cast<Original>(dlsym(RTLD_NEXT, "libnfs_zdr_array"));
    if (original == nullptr) return FALSE;
    if (zdrs->x_op == ZDR_DECODE) {
        constexpr int kWord = 4;  // the smallest item
        std::uint32_t said = 0;
        if (zdrs->size - zdrs->pos < kWord) return FALSE;
        std::memcpy(&said, zdrs->buf + zdrs->pos, sizeof said);
        if (ntohl(said) > static_cast<std::uint32_t>(zdrs->size - zdrs->pos) / kWord) return FALSE;
    }
    return original(zdrs, list, count, items_max, item_bytes, item);
}

namespace streamsim::storage {
namespace {

constexpr std::size_t kGroupsMax = 16;  // the limit of AUTH_SYS
/// A part of a reply counts as hearing the server from this size on.
constexpr std::uint64_t kGoodPartBytes = 64 * 1024;
/// The bytes received are counted when no reply has come for this long: counting costs a system call.
constexpr Duration kCountAfter = milliseconds(200);

std::optional<tcp_info> tcp_info_of(int socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
    return info;
}

}  // namespace

std::string own_host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

std::string nfs_user_refused(const RemotePlace& place) {
    return fmt::format(
        "the server refuses user {} (it may map root to nobody; ?uid=N&gid=N names another user)",
        place.uid.value_or(geteuid()));
}

AUTH* make_nfs_auth(const RemotePlace& place) {
    std::array<gid_t, 256> groups{};
    int count = 0;
    if (!place.uid && !place.gid)
        count = std::max(getgroups(static_cast<int>(groups.size()), groups.data()), 0);
    std::array<std::uint32_t, kGroupsMax> sent{};
    const std::size_t some = std::min<std::size_t>(static_cast<std::size_t>(count), kGroupsMax);
    for (std::size_t i = 0; i < some; ++i) sent[i] = groups[i];
    return libnfs_authunix_create(own_host_name().c_str(), place.uid.value_or(geteuid()),
                                  place.gid.value_or(getegid()), static_cast<std::uint32_t>(some), sent.data());
}

bool NfsTransport::connect(const std::string& address, std::uint16_t port, Instant now) {
    nfs_ = nfs_init_context();
    if (nfs_ == nullptr) {
        problem_ = "libnfs is out of memory";
        return false;
    }
    rpc_ = nfs_get_rpc_context(nfs_);
    nfs_set_autoreconnect(nfs_, 0);
    if (AUTH* auth = make_nfs_auth(place_)) rpc_set_auth(rpc_, auth);  // takes ownership
    failed_ = false;
    state_ = State::connecting;
    heard_ = now;
    if (rpc_connect_async(rpc_, address.c_str(), port, on_connected, this) != 0 || failed_) {
        note_problem("connecting failed");
        drop();
        return false;
    }
    register_socket();
    return true;
}

void NfsTransport::on_connected(rpc_context*, int status, void*, void* self) {
    auto& transport = *static_cast<NfsTransport*>(self);
    if (transport.state_ != State::connecting) return;
    if (status == RPC_STATUS_SUCCESS) {
        transport.state_ = State::connected;
    } else {
        transport.failed_ = true;
    }
}

bool NfsTransport::service(std::uint32_t events, Instant now) {
    if (rpc_ == nullptr) return false;
    const State before = state_;
    const std::uint64_t answers = answers_;
    if (!run(static_cast<int>(events))) return false;  // poll and epoll number their events alike
    bool heard = state_ != before || answers_ != answers;
    if (!heard && now - heard_ > kCountAfter) heard = bytes_received() - heard_bytes_ >= kGoodPartBytes;
    if (!heard) return true;
    // Not for each of many replies.
    if (now - heard_ > kCountAfter) heard_bytes_ = bytes_received();
    heard_ = now;
    return true;
}

std::uint64_t NfsTransport::bytes_received() const {
    const auto info = tcp_info_of(rpc_get_fd(rpc_));
    return info ? info->tcpi_bytes_received : 0;
}

bool NfsTransport::flush() {
    if (rpc_ == nullptr) return false;
    if ((rpc_which_events(rpc_) & POLLOUT) == 0) return true;
    return run(POLLOUT);
}

std::string NfsTransport::not_connected(int events) const {
    int error = 0;
    socklen_t size = sizeof error;
    if ((events & (POLLERR | POLLHUP)) == 0 ||
        getsockopt(rpc_get_fd(rpc_), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error == 0)
        return "connecting failed";
    switch (error) {
        case ECONNREFUSED: return "it refuses the connection";
        case ECONNRESET: return "it resets the connection";
        case ETIMEDOUT: return "it does not answer";
        case EHOSTUNREACH:
        case ENETUNREACH: return fmt::format("there is no route to it: {}", strerrordesc_np(error));
        default: return fmt::format("connecting failed: {}", strerrordesc_np(error));
    }
}

bool NfsTransport::run(int events) {
    const std::string why_not = state_ == State::connecting ? not_connected(events) : std::string();
    const bool healthy = rpc_service(rpc_, events) == 0 && !failed_;
    if (healthy && rpc_get_fd(rpc_) >= 0) {
        register_socket();
        return true;
    }
    note_problem(why_not.empty() ? "it closed the connection" : why_not);
    drop();
    return false;
}

void NfsTransport::register_socket() {
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

void NfsTransport::drop() {
    if (nfs_ == nullptr) return;
    measure();
    state_ = State::down;
    if (registered_ >= 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, registered_, nullptr);
    registered_ = -1;
    rpc_ = nullptr;  // the callbacks that run now must not send
    nfs_destroy_context(std::exchange(nfs_, nullptr));
    retransmitted_before_ += std::exchange(retransmitted_, 0);
}

void NfsTransport::sent(NfsCall& call, Instant now) {
    call.transport = this;
    ++calls_;
    if (outstanding_++ == 0) heard_ = now;
}

void NfsTransport::measure() {
    if (rpc_ == nullptr || state_ != State::connected) return;
    const auto info = tcp_info_of(rpc_get_fd(rpc_));
    if (!info) return;
    retransmitted_ = info->tcpi_total_retrans;
    rtt_ns_ = std::int64_t{info->tcpi_rtt} * 1000;
}

void NfsTransport::note_problem(const std::string& fallback) {
    const char* text = rpc_ == nullptr ? nullptr : rpc_get_error(rpc_);
    // "POLLHUP" in libnfs's text adds nothing to the fallback.
    const bool mute = text == nullptr || *text == 0 || std::strstr(text, "POLLHUP") != nullptr;
    problem_ = mute ? fallback : fmt::format("{} ({})", fallback, text);
}

}  // namespace streamsim::storage
