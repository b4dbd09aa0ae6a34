#include "storage/nfs/nfs_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "storage/nfs/nfs_library.h"
#include "storage/nfs/system/own_user.h"
#include "storage/nfs/system/tcp_facts.h"

namespace streamsim::storage {
namespace {

constexpr std::size_t kGroupsMax = 16;  // the limit of AUTH_SYS
/// A part of a reply counts as hearing the server from this size on.
constexpr std::uint64_t kGoodPartBytes = 64 * 1024;
/// The bytes received are counted when no reply has come for this long: counting costs a system call.
constexpr Duration kCountAfter = milliseconds(200);

}  // namespace

std::string own_host_name() {
    std::array<char, UV_MAXHOSTNAMESIZE> name{};
    std::size_t size = name.size();
    return uv_os_gethostname(name.data(), &size) == 0 ? name.data() : "?";
}

std::string nfs_user_refused(const RemotePlace& place) {
    return fmt::format(
        "the server refuses user {} (it may map root to nobody; ?uid=N&gid=N names another user)",
        place.uid.value_or(own_user().uid));
}

AUTH* make_nfs_auth(const RemotePlace& place) {
    OwnUser user = own_user();
    if (place.uid || place.gid) user.groups.clear();
    user.groups.resize(std::min(user.groups.size(), kGroupsMax));
    return libnfs_authunix_create(own_host_name().c_str(), place.uid.value_or(user.uid),
                                  place.gid.value_or(user.gid), static_cast<std::uint32_t>(user.groups.size()),
                                  user.groups.data());
}

bool NfsTransport::connect(const std::string& address, std::uint16_t port, Instant now) {
    nfs_ = new_nfs_context();
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
    watch_socket();
    return true;
}

void NfsTransport::watch_by(uv_loop_t* loop) {
    loop_ = loop;
    if (rpc_ != nullptr) watch_socket();
}

std::optional<pollfd> NfsTransport::polled() const {
    if (rpc_ == nullptr) return std::nullopt;
    return polled_socket(rpc_get_fd(rpc_), rpc_which_events(rpc_));
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

bool NfsTransport::service(int events, Instant now) {
    if (rpc_ == nullptr) return false;
    const State before = state_;
    const std::uint64_t answers = answers_;
    if (!run(events)) return false;
    bool heard = state_ != before || answers_ != answers;
    if (!heard && now - heard_ > kCountAfter) heard = bytes_received() - heard_bytes_ >= kGoodPartBytes;
    if (!heard) return true;
    // Not for each of many replies.
    if (now - heard_ > kCountAfter) heard_bytes_ = bytes_received();
    heard_ = now;
    return true;
}

std::uint64_t NfsTransport::bytes_received() const {
    const auto facts = tcp_facts(rpc_get_fd(rpc_));
    return facts ? facts->received_bytes : 0;
}

bool NfsTransport::flush() {
    if (rpc_ == nullptr) return false;
    if ((rpc_which_events(rpc_) & POLLOUT) == 0) return true;
    return run(POLLOUT);
}

std::string NfsTransport::not_connected(int events) const {
    const int error = (events & (POLLERR | POLLHUP)) == 0 ? 0 : socket_error(rpc_get_fd(rpc_));
    if (error == 0) return "connecting failed";
    switch (const int known = uv_translate_sys_error(error)) {
        case UV_ECONNREFUSED: return "it refuses the connection";
        case UV_ECONNRESET: return "it resets the connection";
        case UV_ETIMEDOUT: return "it does not answer";
        case UV_EHOSTUNREACH:
        case UV_ENETUNREACH: return fmt::format("there is no route to it: {}", uv_strerror(known));
        default: return fmt::format("connecting failed: {}", uv_strerror(known));
    }
}

bool NfsTransport::run(int events) {
    const std::string why_not = state_ == State::connecting ? not_connected(events) : std::string();
    const bool healthy = rpc_service(rpc_, events) == 0 && !failed_;
    if (healthy && rpc_get_fd(rpc_) >= 0) {
        watch_socket();
        return true;
    }
    note_problem(why_not.empty() ? "it closed the connection" : why_not);
    drop();
    return false;
}

void NfsTransport::watch_socket() {
    if (loop_ != nullptr) watch_.watch(loop_, rpc_get_fd(rpc_), rpc_which_events(rpc_));
}

void NfsTransport::drop() {
    if (nfs_ == nullptr) return;
    measure();
    state_ = State::down;
    watch_.stop();
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
    const auto facts = tcp_facts(rpc_get_fd(rpc_));
    if (!facts) return;
    retransmitted_ = facts->retransmitted_segments;
    rtt_ns_ = facts->rtt_ns;
}

void NfsTransport::note_problem(const std::string& fallback) {
    const char* text = rpc_ == nullptr ? nullptr : rpc_get_error(rpc_);
    // "POLLHUP" in libnfs's text adds nothing to the fallback; "socket error" is the wrong one on Windows.
    const bool mute = text == nullptr || *text == 0 || std::strstr(text, "POLLHUP") != nullptr ||
                      std::strstr(text, "socket error") != nullptr;
    problem_ = mute ? fallback : fmt::format("{} ({})", fallback, text);
}

}  // namespace streamsim::storage
