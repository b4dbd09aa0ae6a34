#include "storage/nfs/nfs_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace streamsim::storage {
namespace {

constexpr std::uint16_t kMapperPort = 111;
constexpr std::uint16_t kNfsPort = 2049;
constexpr const char* kNoExport = "no such export";
constexpr const char* kForbidden =
    "the server refuses this computer the export (permission denied: its list of clients, or it demands a port "
    "below 1024, which takes root)";
constexpr Duration kReconnectPauseMin = milliseconds(50);
constexpr Duration kReconnectPauseMax = seconds(1);
/// For one TCP connect, before the next one: a lost packet must not cost more than a second.
constexpr Duration kConnectTimeout = seconds(1);
/// Version 4 is tried within the same time-out after each service of version 3 that does not answer.
constexpr std::int64_t kServicesPerTimeout = 3;

std::string above(const std::string& path) {
    return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

}  // namespace

NfsNode::NfsNode(const RemotePlace& place,
                 std::string address,
                 std::uint32_t version,
                 std::string directory,
                 NoticeSink notice)
    : place_(place),
      address_(std::move(address)),
      version_(version),
      directory_(std::move(directory)),
      notice_(std::move(notice)),
      helper_(*this, place),
      longest_(directory_) {
    for (std::uint32_t i = 0; i < std::max(place.connections, 1u); ++i)
        connections_.push_back(std::make_unique<NfsConnection>(*this, place));
}

std::string NfsNode::name() const {
    const std::string server = place_.name_of("");
    return place_.host == address_ ? server : fmt::format("{} ({})", server, address_);
}

std::string NfsNode::problem() const {
    if (failure_) return *failure_;
    return last_problem_.empty() ? unanswered() : last_problem_;
}

std::string NfsNode::unanswered() const {
    return service() + " does not answer";
}

std::string NfsNode::service() const {
    const auto at_port = [&](std::uint32_t port) { return fmt::format("{} at port {}", address_, port); };
    switch (step_) {
        case Step::map_mount:
        case Step::map_nfs:
            return at_port(kMapperPort) + " (the port mapper; ?nfsport=N&mountport=N do without it)";
        case Step::connect_mount:
        case Step::mount:
        case Step::exports: return at_port(mount_port_) + " (the mount service)";
        default: return nfs_port_ == 0 ? address_ : at_port(nfs_port_);
    }
}

// ---- finding the export

void NfsNode::begin(Instant now) {
    now_ = now;
    boot_ = static_cast<std::uint64_t>(now.ns);
    mount_port_ = place_.mount_port;
    nfs_port_ = place_.port;
    if (version_ == 4) {
        if (nfs_port_ == 0) nfs_port_ = kNfsPort;
        enter(Step::join);
    } else {
        enter(Step::map_mount);
    }
    advance();
}

void NfsNode::advance() {
    while (std::exchange(step_due_, false)) take_step();
}

void NfsNode::take_step() {
    switch (step_) {
        case Step::none: return;
        case Step::map_mount:
            if (mount_port_ != 0) return enter(Step::map_nfs);
            return helper_.is_up() ? ask_helper() : connect_helper(kMapperPort, step_);
        case Step::map_nfs:
            if (nfs_port_ != 0) return enter(Step::connect_mount);
            return helper_.is_up() ? ask_helper() : connect_helper(kMapperPort, step_);
        case Step::connect_mount:
            mounting_ = longest_;
            mount_error_ = 0;
            return connect_helper(mount_port_, Step::mount);
        case Step::mount:
        case Step::exports: return ask_helper();
        case Step::join:
            helper_.drop();
            for (auto& connection : connections_) {
                if (connection->stage == NfsConnection::Stage::down) start_connection(*connection);
                if (connection->stage == NfsConnection::Stage::refused) ask_limits(*connection);
            }
            return;
        case Step::failed:
            helper_.drop();
            if (booted_) {
                failure_.reset();
                retry_at_ = now_ + kReconnectPauseMax;
            }
            return;
    }
}

void NfsNode::connect_helper(std::uint16_t port, Step then) {
    after_connect_ = then;
    helper_port_ = port;
    helper_until_ = now_ + service_timeout();
    start_helper();
}

void NfsNode::start_helper() {
    helper_.transport.drop();
    helper_.since = now_;
    helper_.stage = NfsConnection::Stage::connecting;
    if (!helper_.transport.connect(address_, helper_port_, now_))
        fail(fmt::format("{}: {}", service(), helper_.transport.problem()));
}

Duration NfsNode::service_timeout() const {
    return place_.version ? place_.timeout : Duration{place_.timeout.ns / kServicesPerTimeout};
}

void NfsNode::check_helper() {
    if (helper_.stage == NfsConnection::Stage::connecting) {
        if (now_ > helper_until_) return fail(unanswered());
        if (now_ - helper_.since > kConnectTimeout) start_helper();
        return;
    }
    // A mount service may look up this computer's name first, which takes long.
    const bool maps = step_ == Step::map_mount || step_ == Step::map_nfs;
    if (helper_.stage != NfsConnection::Stage::down && helper_.transport.outstanding() > 0 &&
        now_ - helper_.transport.heard() > (maps ? service_timeout() : place_.timeout))
        fail(unanswered());
}

void NfsNode::ask_helper() {
    helper_.call = {on_helper, this};
    bool sent = false;
    switch (step_) {
        case Step::map_mount:
            sent = nfs_ask_port(helper_.transport, helper_.call, NfsService::mount, now_);
            break;
        case Step::map_nfs: sent = nfs_ask_port(helper_.transport, helper_.call, NfsService::nfs, now_); break;
        case Step::mount: sent = nfs_mount(helper_.transport, helper_.call, mounting_, now_); break;
        default: sent = nfs_ask_exports(helper_.transport, helper_.call, now_); break;
    }
    if (!sent) return fail(fmt::format("a request to {} could not be sent", address_));
    helper_.transport.flush();
}

void NfsNode::on_helper(void* self, NfsCall&, const NfsReply& reply) {
    auto& node = *static_cast<NfsNode*>(self);
    if (reply.outcome == NfsOutcome::lost && reply.text.empty()) return;  // serve() sees why
    switch (node.step_) {
        case Step::map_mount:
        case Step::map_nfs: return node.on_port(reply);
        case Step::mount: return node.on_mount(reply);
        case Step::exports: return node.on_exports(reply);
        default: return;
    }
}

void NfsNode::on_port(const NfsReply& reply) {
    const bool mount = step_ == Step::map_mount;
    if (reply.outcome != NfsOutcome::done)
        return fail(fmt::format("its port mapper does not answer ({})", reply.text));
    if (reply.number == 0 || reply.number > 65'535) {
        return fail(fmt::format("its port mapper knows no {} of NFS version 3 over TCP",
                                mount ? "mount service" : "service"));
    }
    (mount ? mount_port_ : nfs_port_) = static_cast<std::uint16_t>(reply.number);
    enter(mount ? Step::map_nfs : Step::connect_mount);
}

void NfsNode::on_mount(const NfsReply& reply) {
    if (reply.outcome == NfsOutcome::done) {
        root_ = reply.handle;
        mounted_ = mounting_;
        has_root_ = true;
        directories_.clear();
        return enter(Step::join);
    }
    if (reply.outcome != NfsOutcome::failed)
        return fail(fmt::format("its mount service does not answer ({})", reply.text));
    // "Forbidden" tells the user more than "not found"; but servers forbid the root as a rule.
    const bool forbidden = reply.error == EACCES || reply.error == EPERM;
    if (mount_error_ == 0 || (forbidden && mounting_ != "/")) mount_error_ = reply.error;
    if (mounting_ == "/") return enter(Step::exports);
    mounting_ = above(mounting_);
    enter(Step::mount);
}

/// The mount service has given the handle of a file: its directory is mounted instead.
void NfsNode::mount_above(NfsConnection& asked) {
    longest_ = above(mounted_);
    has_root_ = false;
    for (auto& connection : connections_) {
        if (connection.get() != &asked) connection->drop();  // what it asked was about the file
    }
    asked.stage = NfsConnection::Stage::refused;
    asked.since = now_;
    if (step_ == Step::join) enter(Step::connect_mount);
}

void NfsNode::on_exports(const NfsReply& reply) {
    if (reply.outcome != NfsOutcome::done) {
        const bool forbidden = mount_error_ == EACCES || mount_error_ == EPERM;
        return fail(forbidden ? kForbidden : kNoExport);
    }
    // Servers refuse an unknown export with either error.
    const bool there = std::any_of(reply.names.begin(), reply.names.end(), [&](const std::string& name) {
        return directory_ == name || directory_.starts_with(name == "/" ? name : name + "/");
    });
    constexpr std::size_t kShown = 12;
    std::vector<std::string> shown = reply.names;
    if (shown.size() > kShown) {
        shown.resize(kShown);
        shown.emplace_back("...");
    }
    const char* const why = there ? kForbidden : kNoExport;
    fail(shown.empty() ? fmt::format("{}; the server shows none", why)
                       : fmt::format("{}; the server's exports: {}", why, fmt::join(shown, ", ")));
}

void NfsNode::fail(const std::string& why) {
    failure_ = last_problem_ = why;
    enter(Step::failed);
}

// ---- connections

void NfsNode::start_connection(NfsConnection& connection) {
    connection.since = now_;
    connection.stage = NfsConnection::Stage::connecting;
    if (!connection.transport.connect(address_, nfs_port_, now_)) connection_lost(connection);
}

void NfsNode::ask_limits(NfsConnection& connection) {
    connection.stage = NfsConnection::Stage::asking;
    connection.ask_at = Instant::never();
    connection.call = {on_limits, &connection};
    if (NfsRequests(connection.transport, version_, now_).server_limits(connection.call, root_)) {
        connection.transport.flush();
    } else {
        connection.transport.drop();
        connection_lost(connection);
    }
}

void NfsNode::connection_lost(NfsConnection& connection) {
    last_problem_ = fmt::format("{} at port {}: {}", address_, nfs_port_, connection.transport.problem());
    const bool was_up = connection.is_up();
    if (was_up) connection.pause = {};
    connection.pause = std::clamp(connection.pause + connection.pause, kReconnectPauseMin, kReconnectPauseMax);
    connection.retry_at = now_ + connection.pause;
    connection.stage = NfsConnection::Stage::down;
    if (was_up && !std::exchange(notified_, true))
        say(fmt::format("{}: the connection was lost: {}; connecting again", name(),
                        connection.transport.problem()));
    if (!booted_ && !was_up && now_ - connection.since <= kConnectTimeout) return fail(last_problem_);
    // A server that came back may have its service at another port.
    if (booted_ && !was_up && version_ == 3 && place_.port == 0 && connection.pause == kReconnectPauseMax &&
        step_ == Step::join) {
        mount_port_ = place_.mount_port;
        nfs_port_ = 0;
        enter(Step::map_mount);
    }
}

void NfsNode::serve(NfsConnection& connection, int events, Instant now) {
    now_ = now;
    const bool alive = connection.transport.service(events, now);
    if (&connection == &helper_) {
        if (!alive) {
            if (helper_.stage != NfsConnection::Stage::down && step_ != Step::failed)
                fail(fmt::format("{}: {}", service(), helper_.transport.problem()));
            helper_.stage = NfsConnection::Stage::down;
        } else if (helper_.stage == NfsConnection::Stage::connecting &&
                   helper_.transport.state() == NfsTransport::State::connected) {
            helper_.stage = NfsConnection::Stage::up;
            enter(after_connect_);
        }
    } else if (!alive) {
        if (connection.stage != NfsConnection::Stage::down) connection_lost(connection);
    } else if (connection.stage == NfsConnection::Stage::connecting &&
               connection.transport.state() == NfsTransport::State::connected) {
        ask_limits(connection);
    }
    if (version_ == 4) make_client();
    advance();
}

/// False: the server has told neither limits nor attributes.
bool NfsNode::has_told(NfsConnection& connection, const NfsReply& reply) {
    if (reply.outcome == NfsOutcome::done) return true;
    if (reply.outcome == NfsOutcome::lost) {
        if (!reply.text.empty() && connection.transport.state() == NfsTransport::State::connected && !booted_) {
            fail(fmt::format("{} at port {} does not speak NFS version {} ({})", address_, nfs_port_, version_,
                             reply.text));
        }
        return false;
    }
    if (reply.outcome == NfsOutcome::later)
        told_later(connection);
    else if (reply.outcome == NfsOutcome::stale && version_ == 3)
        root_stale(now_);
    else if (!booted_)
        fail(fmt::format("{} does not tell its limits (error {})", address_, reply.error));
    connection.stage = NfsConnection::Stage::refused;  // until there is another root, or tick() gives it up
    connection.since = now_;
    return false;
}

/// Version 3: the mount service may have given the handle of a file.
void NfsNode::on_root_kind(void* of, NfsCall&, const NfsReply& reply) {
    auto& connection = *static_cast<NfsConnection*>(of);
    NfsNode& node = connection.node;
    if (!node.has_told(connection, reply)) return;
    if (reply.kind != NfsKind::directory && node.mounted_ != "/") return node.mount_above(connection);
    node.connection_up(connection);
}

void NfsNode::on_limits(void* of, NfsCall& call, const NfsReply& reply) {
    auto& connection = *static_cast<NfsConnection*>(of);
    NfsNode& node = connection.node;
    if (!node.has_told(connection, reply)) return;
    if (node.version_ == 4) {
        node.root_ = reply.handle;
        node.mounted_ = "/";
        node.has_root_ = true;
        node.lease_s_ = reply.lease_s;
    }
    std::uint64_t bytes_max =
        reply.number == 0 ? kNfsTransferBytesMax : std::min(reply.number, kNfsTransferBytesMax);
    if (node.place_.read_bytes != 0) bytes_max = std::min(bytes_max, node.place_.read_bytes);
    constexpr std::uint64_t kReadBytesMin = 512;
    node.read_bytes_ = static_cast<std::uint32_t>(std::max(bytes_max, kReadBytesMin));
    if (reply.write_bytes != 0) node.write_bytes_ = std::min(reply.write_bytes, kNfsTransferBytesMax);
    if (node.version_ == 4 || node.mounted_ == "/") return node.connection_up(connection);
    if (reply.has_attributes) return on_root_kind(of, call, reply);
    // The server of Linux tells its limits without attributes.
    call = {on_root_kind, of};
    if (NfsRequests(connection.transport, node.version_, node.now_).attributes(call, node.root_)) {
        connection.transport.flush();
    } else {
        connection.transport.drop();
        node.connection_lost(connection);
    }
}

void NfsNode::told_later(NfsConnection& connection) {
    connection.ask_at = now_ + kRetryPause;
    last_problem_ = fmt::format("{} asks to try again later", address_);
}

void NfsNode::connection_up(NfsConnection& connection) {
    connection.stage = NfsConnection::Stage::up;
    connection.pause = {};
    if (std::exchange(connection.was_up, true)) ++reconnects_;
    const auto up =
        std::count_if(connections_.begin(), connections_.end(), [](const auto& each) { return each->is_up(); });
    connections_max_ = std::max(connections_max_, static_cast<std::uint32_t>(up));
    if (static_cast<std::size_t>(up) < connections_.size()) return;
    booted_ = booted_ || all_up();
    if (std::exchange(notified_, false)) say(fmt::format("{}: connected again", name()));
}

void NfsNode::tick(Instant now) {
    now_ = now;
    if (now >= retry_at_) {
        retry_at_ = Instant::never();
        mount_port_ = place_.mount_port;
        if (place_.port == 0) nfs_port_ = 0;
        enter(Step::map_mount);
    }
    advance();
    check_helper();
    for (auto& connection : connections_) {
        connection->transport.measure();
        if (connection->stage == NfsConnection::Stage::down) {
            if (step_ == Step::join && now >= connection->retry_at) start_connection(*connection);
            continue;
        }
        const bool refused = connection->stage == NfsConnection::Stage::refused;
        if (refused && connection->ask_at != Instant::never()) {
            if (now >= connection->ask_at) ask_limits(*connection);
            continue;
        }
        const bool hangs = (refused || connection->stage == NfsConnection::Stage::connecting) &&
                           now - connection->since > kConnectTimeout;
        const bool silent =
            connection->transport.outstanding() > 0 && now - connection->transport.heard() > place_.timeout;
        if (!hangs && !silent) continue;
        connection->transport.give_up(refused ? "it does not tell its limits"
                                      : hangs ? "it cannot be reached"
                                              : "it does not answer");
        connection_lost(*connection);
    }
    if (version_ == 4) {
        make_client();
        ask_root(now);
        if (now >= renew_at_ && client_state_ == Client::confirmed && !renewing_ && ready()) {
            renew_call_ = {on_renewed, this};
            renewing_ = requests(now).renew(renew_call_, client_);
        }
    }
    advance();
    flush(now);
}

void NfsNode::flush(Instant now) {
    now_ = now;
    for (auto& connection : connections_) {
        if (connection->stage == NfsConnection::Stage::down ||
            connection->transport.state() != NfsTransport::State::connected)
            continue;
        if (!connection->transport.flush()) connection_lost(*connection);
    }
    advance();
}

void NfsNode::drop_all() {
    helper_.drop();
    for (auto& connection : connections_) connection->drop();
}

bool NfsNode::ready() const {
    if (!has_root_ || (version_ == 4 && client_state_ != Client::confirmed)) return false;
    return std::any_of(connections_.begin(), connections_.end(),
                       [](const auto& connection) { return connection->is_up(); });
}

bool NfsNode::all_up() const {
    return ready() && std::all_of(connections_.begin(), connections_.end(),
                                  [](const auto& connection) { return connection->is_up(); });
}

NfsRequests NfsNode::requests(Instant now) {
    NfsConnection* best = nullptr;
    ++turn_;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        NfsConnection& connection = *connections_[(turn_ + i) % connections_.size()];
        if (!connection.is_up()) continue;
        if (best == nullptr || connection.transport.outstanding() < best->transport.outstanding())
            best = &connection;
    }
    return {best->transport, version_, now};
}

std::optional<std::string_view> NfsNode::below_root(std::string_view path) const {
    if (mounted_ == "/") return path;
    if (!path.starts_with(mounted_)) return std::nullopt;
    path.remove_prefix(mounted_.size());
    if (!path.empty() && path.front() != '/') return std::nullopt;
    return path;
}

void NfsNode::root_stale(Instant now) {
    if (step_ != Step::join) return;
    now_ = now;
    if (version_ == 4) {
        ask_root_at_ = std::min(ask_root_at_, now);
        return;
    }
    has_root_ = false;
    retry_at_ = std::min(retry_at_, now + kReconnectPauseMin);  // not within the callback of a reply
}

// ---- version 4: the root, and the client id

void NfsNode::ask_root(Instant now) {
    if (now < ask_root_at_ || root_asked_ || !ready()) return;
    ask_root_at_ = Instant::never();
    root_call_ = {on_root, this};
    root_asked_ = requests(now).server_limits(root_call_, root_);
}

void NfsNode::on_root(void* self, NfsCall&, const NfsReply& reply) {
    auto& node = *static_cast<NfsNode*>(self);
    node.root_asked_ = false;
    if (reply.outcome != NfsOutcome::done) return;  // the next request that finds it stale asks again
    node.root_ = reply.handle;
    node.directories_.clear();
}

void NfsNode::make_client() {
    if (client_state_ != Client::unknown || now_ < ask_client_at_) return;
    NfsConnection* connection = nullptr;
    for (auto& each : connections_) {
        if (each->is_up()) connection = each.get();
    }
    if (connection == nullptr) return;
    // Each node object has a name of its own: two loops of a process are two clients.
    const std::string id = fmt::format("streamsim {} {} {}", own_host_name(), uv_os_getpid(), fmt::ptr(this));
    client_call_ = {on_client, this};
    if (!NfsRequests(connection->transport, version_, now_).set_client(client_call_, id, boot_)) return;
    client_state_ = Client::asking;
    connection->transport.flush();
}

void NfsNode::on_client(void* self, NfsCall& call, const NfsReply& reply) {
    auto& node = *static_cast<NfsNode*>(self);
    if (reply.outcome != NfsOutcome::done) {
        node.client_state_ = Client::unknown;
        if (reply.outcome == NfsOutcome::later || reply.outcome == NfsOutcome::failed)
            node.ask_client_at_ = node.now_ + kRetryPause;
        if (reply.outcome == NfsOutcome::later)
            node.last_problem_ = fmt::format("{} asks to try again later", node.address_);
        if (reply.outcome == NfsOutcome::failed && !node.booted_)
            node.fail(
                fmt::format("{} does not accept a client of version 4 (error {})", node.address_, reply.error));
        return;
    }
    if (reply.client != 0) {  // the new id has to be confirmed
        node.client_ = reply.client;
        const NfsRequests requests(*call.transport, node.version_, node.now_);
        if (!requests.confirm_client(call, reply.client, reply.verifier)) node.client_state_ = Client::unknown;
        return;
    }
    node.client_state_ = Client::confirmed;
    node.booted_ = node.booted_ || node.all_up();
    node.renew_later();
}

void NfsNode::renew_later() {
    constexpr std::uint32_t kShortestLeaseS = 10;
    renew_at_ = now_ + seconds(std::max(lease_s_, kShortestLeaseS) / 3);
}

void NfsNode::on_renewed(void* self, NfsCall&, const NfsReply& reply) {
    auto& node = *static_cast<NfsNode*>(self);
    node.renewing_ = false;
    if (reply.outcome == NfsOutcome::done) node.renew_later();
    if (reply.outcome == NfsOutcome::later || reply.outcome == NfsOutcome::failed)
        node.renew_at_ = node.now_ + kReconnectPauseMax;
    if (reply.outcome == NfsOutcome::expired) node.client_expired(node.client_);
}

void NfsNode::client_expired(std::uint64_t client) {
    if (client != client_ || client_state_ != Client::confirmed) return;
    client_state_ = Client::unknown;
}

// ---- statistics

std::uint32_t NfsNode::outstanding() const {
    std::uint32_t sum = 0;
    for (const auto& connection : connections_) sum += connection->transport.outstanding();
    return sum;
}

ServerTraffic NfsNode::traffic() const {
    ServerTraffic out;
    out.address = address_;
    out.protocol = version_ == 4 ? "NFSv4.0" : "NFSv3";
    out.seats = seats;
    out.connections = connections_max_;
    out.read_bytes = read_bytes_;
    out.requests = helper_.transport.calls();
    out.received_bytes = received_bytes;
    out.reconnects = reconnects_;
    for (const auto& connection : connections_) {
        out.requests += connection->transport.calls();
        out.retransmitted_segments += connection->transport.retransmitted_segments();
        const auto rtt = connection->transport.rtt_ns();
        if (rtt && (!out.rtt_ns || *rtt > *out.rtt_ns)) out.rtt_ns = rtt;
    }
    return out;
}

}  // namespace streamsim::storage
