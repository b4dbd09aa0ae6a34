#include "storage/nfs/nfs_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/units.h"
#include "storage/errno_text.h"

namespace streamsim::storage {
namespace {

constexpr std::uint16_t kMapperPort = 111;
constexpr std::uint16_t kNfsPort = 2049;
constexpr const char* kNoExport = "no such export";
constexpr const char* kForbidden =
    "the server does not let this computer have the export (permission denied: its list of clients, or its "
    "wish "
    "for a port below 1024, which takes root)";
constexpr Duration kFirstPause = milliseconds(50);
constexpr Duration kLongestPause = seconds(1);
/// Of one TCP connect, when it is made again: a lost packet must not cost more than a second.
constexpr Duration kConnectPatience = seconds(1);

}  // namespace

NfsNode::NfsNode(const RemotePlace& place,
                 std::string address,
                 std::uint32_t version,
                 std::string directory,
                 int epoll,
                 NoticeSink notice)
    : place_(place),
      address_(std::move(address)),
      version_(version),
      directory_(std::move(directory)),
      notice_(std::move(notice)),
      requests_(version),
      helper_(*this, place, epoll) {
    for (std::uint32_t i = 0; i < std::max(place.connections, 1u); ++i)
        lanes_.push_back(std::make_unique<NfsLane>(*this, place, epoll));
}

std::string NfsNode::name() const {
    return place_.host == address_ ? fmt::format("nfs://{}", place_.host)
                                   : fmt::format("nfs://{} ({})", place_.host, address_);
}

std::string NfsNode::trouble() const {
    if (failure_) return *failure_;
    return last_trouble_.empty() ? silence() : last_trouble_;
}

std::string NfsNode::silence() const {
    const auto at_port = [&](std::uint32_t port) { return fmt::format("{} at port {}", address_, port); };
    switch (step_) {
        case Step::map_mount:
        case Step::map_nfs: return at_port(kMapperPort) + " (the port mapper) does not answer";
        case Step::mount: return at_port(mount_port_) + " (the mount service) does not answer";
        default:
            return nfs_port_ == 0 ? address_ + " does not answer" : at_port(nfs_port_) + " does not answer";
    }
}

// ---- to the export

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
            return helper_.stage == NfsLane::Stage::up ? ask_helper() : connect_helper(kMapperPort, step_);
        case Step::map_nfs:
            if (nfs_port_ != 0) return enter(Step::connect_mount);
            return helper_.stage == NfsLane::Stage::up ? ask_helper() : connect_helper(kMapperPort, step_);
        case Step::connect_mount:
            mounting_ = directory_;
            mount_error_ = 0;
            return connect_helper(mount_port_, Step::mount);
        case Step::mount:
        case Step::exports: return ask_helper();
        case Step::join:
            helper_.link.drop();
            helper_.stage = NfsLane::Stage::down;
            for (auto& lane : lanes_) {
                if (lane->stage == NfsLane::Stage::down) start_lane(*lane);
            }
            return;
        case Step::failed:
            helper_.link.drop();
            helper_.stage = NfsLane::Stage::down;
            if (booted_) {
                failure_.reset();
                retry_at_ = now_ + kLongestPause;
            }
            return;
    }
}

void NfsNode::connect_helper(std::uint16_t port, Step then) {
    helper_.link.drop();
    after_connect_ = then;
    helper_.since = now_;
    helper_.stage = NfsLane::Stage::connecting;
    if (!helper_.link.connect(address_, port, now_))
        fail(fmt::format("{} at port {}: {}", address_, port, helper_.link.trouble()));
}

void NfsNode::ask_helper() {
    helper_.call = {on_helper, this};
    ++requests_made_;
    bool sent = false;
    switch (step_) {
        case Step::map_mount: sent = nfs_ask_port(helper_.link, helper_.call, NfsService::mount, now_); break;
        case Step::map_nfs: sent = nfs_ask_port(helper_.link, helper_.call, NfsService::nfs, now_); break;
        case Step::mount: sent = nfs_mount(helper_.link, helper_.call, mounting_, now_); break;
        default: sent = nfs_ask_exports(helper_.link, helper_.call, now_); break;
    }
    if (!sent) return fail(fmt::format("a request to {} could not be sent", address_));
    helper_.link.flush();
}

void NfsNode::on_helper(void* self, NfsCall&, const NfsReply& reply) {
    auto& node = *static_cast<NfsNode*>(self);
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
    // What is forbidden says more than what is not there; but the root is forbidden as a rule.
    const bool forbidden = reply.error == EACCES || reply.error == EPERM;
    if (mount_error_ == 0 || (forbidden && mounting_ != "/")) mount_error_ = reply.error;
    if (mounting_ == "/") return enter(Step::exports);
    const std::size_t slash = mounting_.rfind('/');
    mounting_.resize(std::max<std::size_t>(slash, 1));
    enter(Step::mount);
}

void NfsNode::on_exports(const NfsReply& reply) {
    if (reply.outcome != NfsOutcome::done || reply.names == nullptr) {
        const bool forbidden = mount_error_ == EACCES || mount_error_ == EPERM;
        return fail(forbidden ? kForbidden : kNoExport);
    }
    // Servers refuse what they do not have with either error.
    const bool there = std::any_of(reply.names->begin(), reply.names->end(), [&](const std::string& name) {
        return directory_ == name || directory_.starts_with(name == "/" ? name : name + "/");
    });
    constexpr std::size_t kShown = 12;
    std::vector<std::string> shown = *reply.names;
    if (shown.size() > kShown) {
        shown.resize(kShown);
        shown.emplace_back("...");
    }
    const char* const why = there ? kForbidden : kNoExport;
    fail(shown.empty() ? fmt::format("{}; the server shows none", why)
                       : fmt::format("{}; the server's exports: {}", why, fmt::join(shown, ", ")));
}

void NfsNode::fail(const std::string& why) {
    failure_ = last_trouble_ = why;
    enter(Step::failed);
}

// ---- connections

void NfsNode::start_lane(NfsLane& lane) {
    lane.since = now_;
    lane.stage = NfsLane::Stage::connecting;
    if (!lane.link.connect(address_, nfs_port_, now_)) lane_lost(lane);
}

void NfsNode::lane_lost(NfsLane& lane) {
    last_trouble_ = fmt::format("{} at port {}: {}", address_, nfs_port_, lane.link.trouble());
    lane.pause =
        lane.stage == NfsLane::Stage::up ? kFirstPause : std::min(lane.pause + lane.pause, kLongestPause);
    lane.pause = std::max(lane.pause, kFirstPause);
    lane.retry_at = now_ + lane.pause;
    const bool was_up = lane.stage == NfsLane::Stage::up;
    lane.stage = NfsLane::Stage::down;
    if (was_up && !std::exchange(troubled_, true))
        say(fmt::format("{}: the connection was lost: {}; connecting again", name(), lane.link.trouble()));
    if (!booted_ && !was_up && now_ - lane.since <= kConnectPatience) return fail(last_trouble_);
    // A server that came back may have its service at another port.
    if (booted_ && !was_up && version_ == 3 && place_.port == 0 && lane.pause == kLongestPause &&
        step_ == Step::join) {
        mount_port_ = place_.mount_port;
        nfs_port_ = 0;
        enter(Step::map_mount);
    }
}

void NfsNode::serve(NfsLane& lane, std::uint32_t events, Instant now) {
    now_ = now;
    const bool alive = lane.link.service(events, now);
    if (&lane == &helper_) {
        if (!alive) {
            if (helper_.stage != NfsLane::Stage::down && step_ != Step::failed)
                fail(fmt::format("{}: {}", address_, helper_.link.trouble()));
            helper_.stage = NfsLane::Stage::down;
        } else if (helper_.stage == NfsLane::Stage::connecting &&
                   helper_.link.state() == NfsLink::State::connected) {
            helper_.stage = NfsLane::Stage::up;
            enter(after_connect_);
        }
    } else if (!alive) {
        if (lane.stage != NfsLane::Stage::down) lane_lost(lane);
    } else if (lane.stage == NfsLane::Stage::connecting && lane.link.state() == NfsLink::State::connected) {
        lane.stage = NfsLane::Stage::asking;
        lane.call = {on_facts, &lane};
        ++requests_made_;
        if (!requests_.server_facts(lane.link, lane.call, root_, now)) {
            lane.link.drop();
            lane_lost(lane);
        } else {
            lane.link.flush();
        }
    }
    if (version_ == 4) make_client();
    advance();
}

void NfsNode::on_facts(void* of, NfsCall&, const NfsReply& reply) {
    auto& lane = *static_cast<NfsLane*>(of);
    NfsNode& node = lane.node;
    if (reply.outcome == NfsOutcome::lost) {
        if (!reply.text.empty() && lane.link.state() == NfsLink::State::connected && !node.booted_) {
            node.fail(fmt::format("{} at port {} does not speak NFS version {} ({})", node.address_,
                                  node.nfs_port_, node.version_, reply.text));
        }
        return;
    }
    if (reply.outcome != NfsOutcome::done) {
        if (reply.outcome == NfsOutcome::stale && node.version_ == 3) return node.root_stale(node.now_);
        if (!node.booted_)
            node.fail(fmt::format("{} does not tell its facts (error {})", node.address_, reply.error));
        lane.stage = NfsLane::Stage::connecting;  // and again, once that has taken too long
        lane.since = node.now_;
        return;
    }
    if (node.version_ == 4) {
        node.root_ = reply.handle;
        node.mounted_ = "/";
        node.has_root_ = true;
        node.lease_s_ = reply.lease_s;
    }
    std::uint64_t most = reply.number == 0 ? kNfsReadMost : std::min(reply.number, kNfsReadMost);
    if (node.place_.read_bytes != 0) most = std::min(most, node.place_.read_bytes);
    constexpr std::uint64_t kLeast = 512;
    node.read_bytes_ = static_cast<std::uint32_t>(std::max(most, kLeast));
    if (reply.write_bytes != 0) node.write_bytes_ = std::min(reply.write_bytes, kNfsReadMost);
    node.lane_up(lane);
}

void NfsNode::lane_up(NfsLane& lane) {
    lane.stage = NfsLane::Stage::up;
    lane.pause = {};
    if (std::exchange(lane.was_up, true)) ++reconnects_;
    const auto up = std::count_if(lanes_.begin(), lanes_.end(),
                                  [](const auto& each) { return each->stage == NfsLane::Stage::up; });
    most_up_ = std::max(most_up_, static_cast<std::uint32_t>(up));
    if (static_cast<std::size_t>(up) < lanes_.size()) return;
    booted_ = true;
    if (std::exchange(troubled_, false)) say(fmt::format("{}: connected again", name()));
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
    if (helper_.stage != NfsLane::Stage::down && helper_.link.outstanding() > 0 &&
        now - helper_.link.heard() > place_.timeout) {
        fail(silence());
    }
    for (auto& lane : lanes_) {
        lane->link.measure();
        if (lane->stage == NfsLane::Stage::down) {
            if (step_ == Step::join && now >= lane->retry_at) start_lane(*lane);
            continue;
        }
        const bool hangs = lane->stage == NfsLane::Stage::connecting && now - lane->since > kConnectPatience;
        const bool silent = lane->link.outstanding() > 0 && now - lane->link.heard() > place_.timeout;
        if (!hangs && !silent) continue;
        lane->link.give_up(hangs ? "it cannot be reached" : "it does not answer");
        lane_lost(*lane);
    }
    if (version_ == 4) {
        make_client();
        if (now >= renew_at_ && client_state_ == Client::confirmed && !renewing_ && ready()) {
            renew_call_ = {on_renewed, this};
            renewing_ = NfsRequests::renew(pick(), renew_call_, client_, now);
            ++requests_made_;
        }
    }
    advance();
    flush(now);
}

void NfsNode::flush(Instant now) {
    now_ = now;
    for (auto& lane : lanes_) {
        if (lane->stage == NfsLane::Stage::down || lane->link.state() != NfsLink::State::connected) continue;
        if (!lane->link.flush()) lane_lost(*lane);
    }
    advance();
}

void NfsNode::drop_all() {
    helper_.link.drop();
    helper_.stage = NfsLane::Stage::down;
    for (auto& lane : lanes_) {
        lane->link.drop();
        lane->stage = NfsLane::Stage::down;
    }
}

bool NfsNode::ready() const {
    if (!has_root_ || (version_ == 4 && client_state_ != Client::confirmed)) return false;
    return std::any_of(lanes_.begin(), lanes_.end(),
                       [](const auto& lane) { return lane->stage == NfsLane::Stage::up; });
}

bool NfsNode::all_up() const {
    return ready() && std::all_of(lanes_.begin(), lanes_.end(),
                                  [](const auto& lane) { return lane->stage == NfsLane::Stage::up; });
}

NfsLink& NfsNode::pick() {
    NfsLane* best = nullptr;
    ++turn_;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        NfsLane& lane = *lanes_[(turn_ + i) % lanes_.size()];
        if (lane.stage != NfsLane::Stage::up) continue;
        if (best == nullptr || lane.link.outstanding() < best->link.outstanding()) best = &lane;
    }
    return best->link;
}

std::optional<std::string_view> NfsNode::below_root(std::string_view path) const {
    if (mounted_ == "/") return path;
    if (!path.starts_with(mounted_)) return std::nullopt;
    path.remove_prefix(mounted_.size());
    if (!path.empty() && path.front() != '/') return std::nullopt;
    return path;
}

void NfsNode::root_stale(Instant now) {
    if (version_ == 4 || step_ != Step::join) return;
    now_ = now;
    has_root_ = false;
    retry_at_ = now + kFirstPause;  // not inside an answer
}

// ---- version 4: who we are

void NfsNode::make_client() {
    if (client_state_ != Client::unknown) return;
    NfsLane* lane = nullptr;
    for (auto& each : lanes_) {
        if (each->stage == NfsLane::Stage::up) lane = each.get();
    }
    if (lane == nullptr) return;
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
    // One name for each node object: two loops of a process are two clients.
    const std::string id = fmt::format("streamsim {} {} {}", host.data(), getpid(), fmt::ptr(this));
    client_call_ = {on_client, this};
    ++requests_made_;
    if (!NfsRequests::set_client(lane->link, client_call_, id, boot_, now_)) return;
    client_state_ = Client::asking;
    lane->link.flush();
}

void NfsNode::on_client(void* self, NfsCall& call, const NfsReply& reply) {
    auto& node = *static_cast<NfsNode*>(self);
    if (reply.outcome != NfsOutcome::done) {
        node.client_state_ = Client::unknown;
        if (reply.outcome == NfsOutcome::failed && !node.booted_)
            node.fail(
                fmt::format("{} does not accept a client of version 4 (error {})", node.address_, reply.error));
        return;
    }
    if (reply.client != 0) {  // and now the same again, confirmed
        node.client_ = reply.client;
        ++node.requests_made_;
        if (!NfsRequests::confirm_client(*call.link, call, reply.client, reply.verifier, node.now_))
            node.client_state_ = Client::unknown;
        return;
    }
    node.client_state_ = Client::confirmed;
    constexpr std::uint32_t kShortest = 10;
    node.renew_at_ = node.now_ + seconds(std::max(node.lease_s_, kShortest) / 3);
}

void NfsNode::on_renewed(void* self, NfsCall&, const NfsReply& reply) {
    auto& node = *static_cast<NfsNode*>(self);
    node.renewing_ = false;
    constexpr std::uint32_t kShortest = 10;
    if (reply.outcome == NfsOutcome::done)
        node.renew_at_ = node.now_ + seconds(std::max(node.lease_s_, kShortest) / 3);
    if (reply.outcome == NfsOutcome::expired) node.client_expired(node.client_);
}

void NfsNode::client_expired(std::uint64_t client) {
    if (client != client_ || client_state_ != Client::confirmed) return;
    client_state_ = Client::unknown;
}

// ---- what it was

std::uint32_t NfsNode::outstanding() const {
    std::uint32_t sum = 0;
    for (const auto& lane : lanes_) sum += lane->link.outstanding();
    return sum;
}

ServerTraffic NfsNode::traffic() const {
    ServerTraffic out;
    out.address = address_;
    out.protocol = version_ == 4 ? "NFSv4.0" : "NFSv3";
    out.seats = seats;
    out.connections = most_up_;
    out.read_bytes = read_bytes_;
    out.requests = requests_made_;
    out.received_bytes = received_bytes;
    out.reconnects = reconnects_;
    for (const auto& lane : lanes_) {
        out.retransmitted_segments += lane->link.retransmitted_segments();
        const auto rtt = lane->link.rtt_ns();
        if (rtt && (!out.rtt_ns || *rtt > *out.rtt_ns)) out.rtt_ns = rtt;
    }
    return out;
}

}  // namespace streamsim::storage
