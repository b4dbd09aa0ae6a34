#include "storage/nfs/nfs_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/units.h"
#include "storage/clock_now.h"
#include "storage/errno_text.h"
#include "storage/nfs/nfs_library.h"
#include "storage/nfs/nfs_sharing.h"
#include "storage/nfs/system/socket_poll.h"
#include "storage/remote/remote_names.h"

namespace streamsim::storage {
namespace {

/// libnfs does not renew its lease: a context of version 4 that was idle for longer is made anew.
constexpr Duration kIdleMax = seconds(10);
constexpr std::uint32_t kPieceBytesMax = 1U << 20;

}  // namespace

void NfsSession::disconnect() {
    if (nfs_ == nullptr) return;
    ++generation_;
    nfs_destroy_context(std::exchange(nfs_, nullptr));
}

void NfsSession::on_answer(int result, nfs_context* nfs, void* data, void* user) {
    auto& call = *static_cast<Call*>(user);
    call.result = result;
    if (call.end && result >= 0) call.end(nfs, result, data);
    call.done = true;
}

/// Finds the server and its export as for playing, with the same messages when that fails. Then libnfs mounts
/// the export.
Result<void> NfsSession::connect() {
    const Instant until = clock_now() + place_.timeout;
    RemotePlace place = place_;
    if (auto known = resolve(place); !known) return known;
    auto server = std::make_unique<NfsServer>(place, directory_, RemoteOptions{});
    const auto sharing = place_.sharing->of<NfsSharing>();
    const std::string identity = server->identity();
    if (const auto facts = sharing->facts(identity)) {
        if (mount(*facts, place.addresses.front(), until)) return {};
        sharing->forget(identity);
    }
    if (auto connected = server->connect(); !connected) return connected;
    return mount(sharing->leave(std::move(server)), place.addresses.front(), until);
}

Result<void> NfsSession::mount(const NfsFacts& facts, const std::string& address, Instant until) {
    version_ = facts.version;
    mounted_ = facts.mounted;
    root_ = facts.root;
    nfs_ = new_nfs_context();
    if (nfs_ == nullptr) return environment_error(fmt::format("{}: no memory", name_of(directory_)));
    // Playing does not enter another export below this one either.
    std::string options =
        fmt::format("nfs://host/export?version={}&nfsport={}&auto-traverse-mounts=0", version_, facts.nfs_port);
    if (version_ == 3) options += fmt::format("&mountport={}", facts.mount_port);
    if (nfs_url* url = nfs_parse_url_dir(nfs_, options.c_str()))
        nfs_destroy_url(url);  // parsing sets the options
    nfs_set_autoreconnect(nfs_, 0);
    nfs_set_dircache(nfs_, 0);
    if (AUTH* auth = make_nfs_auth(place_)) nfs_set_auth(nfs_, auth);
    if (version_ == 4) {
        static std::atomic<std::uint32_t> contexts{0};
        const auto id = fmt::format("streamsim files {} {} {}", own_host_name(), uv_os_getpid(), ++contexts);
        nfs4_set_client_name(nfs_, id.c_str());
        nfs4_set_verifier(nfs_, fmt::format("{:08}", clock_now().ns % 100'000'000).c_str());
    }
    Call mount;
    mount.begin = [&](nfs_context* nfs, void* user) {
        return nfs_mount_async(nfs, address.c_str(), mounted_.c_str(), on_answer, user);
    };
    if (mount.begin(nfs_, &mount) != 0 || wait(mount, until) < 0) {
        const char* said = nfs_get_error(nfs_);
        Error error =
            environment_error(fmt::format("{}: {}", name_of(directory_), said == nullptr ? "" : said));
        disconnect();
        return error;
    }
    const std::uint64_t bytes_max = std::min(nfs_get_readmax(nfs_), nfs_get_writemax(nfs_));
    piece_bytes_ = bytes_max == 0
                       ? kPieceBytesMax
                       : static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes_max, kPieceBytesMax));
    return {};
}

int NfsSession::wait(Call& call, Instant until) {
    while (!call.done) {
        const Instant now = clock_now();
        if (now >= until) return call.result = -ETIMEDOUT;
        constexpr Duration kPollMax = milliseconds(100);
        pollfd socket = polled_socket(nfs_get_fd(nfs_), nfs_which_events(nfs_));
        poll_sockets({&socket, 1}, std::min(until - now + milliseconds(1), kPollMax));
        if ((socket.revents & POLLIN) != 0) heard_ = clock_now();
        if (nfs_service(nfs_, socket.revents) < 0 && !call.done) return call.result = -ENOTCONN;
    }
    return call.result;
}

NfsSession::Turn::Turn(std::shared_ptr<NfsSession> session, bool connects)
    : session_(std::move(session)), lock_(session_->mutex_) {
    const Instant now = clock_now();
    const bool expired = version() == 4 && sinks() == 0 && now - session_->used_ > kIdleMax;
    if (expired) session_->disconnect();
    session_->used_ = now;
    if (nfs() == nullptr && connects) ready_ = session_->connect();
}

bool NfsSession::Turn::connect_again() {
    if (nfs() == nullptr) ready_ = session_->connect();
    return bool{ready_};
}

bool NfsSession::Turn::heard_lately() const {
    return clock_now() - session_->heard_ < Duration{session_->place_.timeout.ns / 2};
}

std::optional<std::string> NfsSession::Turn::below_root(const std::string& whole) const {
    const std::string& mounted = session_->mounted_;
    if (mounted == "/") return whole;
    if (!whole.starts_with(mounted)) return std::nullopt;
    std::string below = whole.substr(mounted.size());
    if (!below.empty() && below.front() != '/') return std::nullopt;
    return below;
}

std::string NfsSession::Turn::path(const std::string& whole) const {
    const auto below = below_root(whole);
    if (!below) return whole;
    return below->empty() ? "/" : *below;
}

int NfsSession::Turn::run(Call call) {
    std::vector<Call> one;
    one.push_back(std::move(call));
    return run_all(one);
}

int NfsSession::Turn::run_all(std::vector<Call>& calls) {
    int worst = 0;
    for (Call& call : calls) start(call);
    for (Call& call : calls) {
        const int result = finish(call);
        if (result < 0 && worst == 0) worst = result;
    }
    return worst;
}

void NfsSession::Turn::start(Call& call) {
    call.done = true;
    call.result = -ENOTCONN;
    if (session_->nfs_ == nullptr) return;
    call.done = false;
    if (call.begin(session_->nfs_, &call) == 0) return;
    call.done = true;
    call.result = -EIO;
}

void NfsSession::Turn::flush() {
    if (session_->nfs_ == nullptr) return;
    pollfd socket = polled_socket(nfs_get_fd(session_->nfs_), nfs_which_events(session_->nfs_));
    poll_sockets({&socket, 1}, Duration{});
    // A connection that is lost answers its calls, which tell.
    if (socket.revents != 0) (void)nfs_service(session_->nfs_, socket.revents);
}

int NfsSession::Turn::finish(Call& call) {
    const Instant until = clock_now() + session_->place_.timeout;
    const int waited = call.done ? call.result : session_->wait(call, until);
    if (!call.done) {
        session_->disconnect();  // answers this call and the others
        call.result = waited;
    }
    session_->used_ = clock_now();
    // libnfs's errors for calls that were given up.
    const bool lost = call.result == -EINTR || call.result == -EFAULT || call.result == -ENOTCONN;
    if (lost) session_->disconnect();  // the next turn connects again
    return lost ? -ENOTCONN : call.result;
}

Error NfsSession::error(int number, const std::string& action, const std::string& path) const {
    const std::string name = name_of(path);
    if (number == ENOTCONN)
        return environment_error(
            fmt::format("cannot {} {}: the connection to the server was lost", action, name));
    if (number == ETIMEDOUT) {
        return environment_error(fmt::format("cannot {} {}: no answer from the server for {}", action, name,
                                             show_duration(place_.timeout)));
    }
    Error error = file_error(number, action, name);
    if (number == EACCES || number == EPERM) error.problems.front() += "; " + nfs_user_refused(place_);
    return error;
}

}  // namespace streamsim::storage
