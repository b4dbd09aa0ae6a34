#include "host/server_path.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace streamsim::host {
namespace {

/// A host that has sent less serves no media.
constexpr std::uint64_t kServerBytesMin = 1 << 20;
/// An answer that is overdue by this and two round trips is missing: two pings in a row.
constexpr std::int64_t kUnansweredNs = 150'000'000;
/// A sample that comes later than this was late itself: the time between is unknown.
constexpr std::int64_t kSampleGapNsMax = 300'000'000;
/// As long as no peer can be a file server, one sample in so many looks for one.
constexpr std::uint64_t kLooksWithoutServer = 5;
/// A peer that only traffic made the server is none after so long without a connection: a download has ended.
constexpr std::int64_t kGuessKeptNs = 60'000'000'000;
/// Beyond so many, peers without a connection are forgotten.
constexpr std::size_t kPeersMax = 256;
/// After so many pings without any answer, handshakes replace them.
constexpr std::uint64_t kEchoesTried = 5;
/// So many samples in a row with data and without an answer: the host answers pings no longer.
constexpr std::uint64_t kEchoesInVain = 10;
/// Handshakes of one quiet time that follow each other at once; then one a second.
constexpr std::uint64_t kHandshakesAtOnce = 12;
constexpr std::int64_t kHandshakeInterval = 1'000'000'000;
/// A round trip that is longer may be a queue on the way, or an acknowledgement that the peer held back.
constexpr std::int64_t kLongFactor = 5;
constexpr std::int64_t kLongNs = 1'000'000;

/// A sample with loss: so many of its segments came out of order.
constexpr std::uint64_t kLossPercent = 3;
constexpr std::uint64_t kLossSegmentsMin = 3;

bool is_short(const TcpConnection& connection) {
    return connection.rtt_ns <= connection.rtt_min_ns * kLongFactor ||
           connection.rtt_ns - connection.rtt_min_ns < kLongNs;
}

/// No network is between: whoever fetches metrics here is no file server.
bool is_this_computer(std::string_view address) {
    return address.starts_with("127.") || address == "::1" || address.starts_with("::ffff:127.");
}

std::uint64_t growth(std::uint64_t now, std::uint64_t before) {
    return now - std::min(now, before);
}

}  // namespace

ServerHost::ServerHost(const TcpConnection& connection, bool handshakes)
    : peer_(connection.peer),
      port_(connection.peer_port),
      interface_(interface_toward(peer_)),
      had_carrier_(interface_ && has_carrier(*interface_)),
      handshakes_allowed_(handshakes) {
    pinger_.aim_at(peer_);
}

ServerHost::Look ServerHost::look(std::int64_t now_ns,
                                  std::int64_t step_ns,
                                  bool quiet,
                                  const TcpConnection* connection) {
    Look found;
    take_answers(now_ns, quiet, found);
    if (had_carrier_ && !has_carrier(*interface_)) found.no_carrier_ns = step_ns;
    const std::int64_t waited_ns = quiet ? unanswered_for(now_ns) : 0;
    const bool unanswered = waited_ns >= kUnansweredNs + 2 * rtt_ns_;
    if (unanswered) found.unanswered_ns = unanswered_ ? step_ns : waited_ns;
    unanswered_ = unanswered;
    ask(now_ns, quiet, connection);
    return found;
}

void ServerHost::take_answers(std::int64_t now_ns, bool quiet, Look& found) {
    const bool asked_in_quiet = std::exchange(was_quiet_, quiet);
    if (pinger_.receive(0)) {
        ping_works_ = true;
        ping_sent_ns_.reset();
        pings_waiting_ = 0;
        pings_in_vain_ = 0;
        found.quiet_answers += asked_in_quiet ? 1 : 0;
        found.rtt_ns = pinger_.last_ns();
    }
    const Handshakes::Answers answers = handshakes_.receive(now_ns);
    if (answers.any) {
        handshake_works_ = true;
        handshake_asked_ns_.reset();
        handshake_answered_ = true;
        found.quiet_answers += asked_in_quiet ? 1 : 0;
        found.refused += asked_in_quiet && answers.refused ? 1 : 0;
        if (!ping_works_ && answers.rtt_ns) found.rtt_ns = answers.rtt_ns;
    }
    if (found.rtt_ns) rtt_ns_ = *found.rtt_ns;
    if (quiet) return;
    // Its data come: a ping without an answer says nothing of the way.
    if (pings_waiting_ > 0 && ++pings_in_vain_ >= kEchoesInVain) ping_works_ = false;
    ping_sent_ns_.reset();
    pings_waiting_ = 0;
    handshake_answered_ = false;
    handshake_asked_ns_.reset();
    quiet_handshakes_ = 0;
}

/// The time since which usual answers are missing; 0: none is missing.
std::int64_t ServerHost::unanswered_for(std::int64_t now_ns) const {
    if (handshake_answered_) return 0;
    if (ping_works_ && ping_sent_ns_ && pings_waiting_ >= 2) return now_ns - *ping_sent_ns_;
    if (!ping_works_ && handshake_works_ && handshake_asked_ns_) return now_ns - *handshake_asked_ns_;
    return 0;
}

void ServerHost::ask(std::int64_t now_ns, bool quiet, const TcpConnection* connection) {
    // A server that answers pings gets handshakes only when a ping is missing.
    const bool pings = ping_works_ || pings_asked_ < kEchoesTried;
    const bool rested = last_handshake_ns_ == INT64_MIN || now_ns - last_handshake_ns_ >= kHandshakeInterval;
    bool wanted = false;
    if (quiet) {
        const bool missing = !pings || pings_waiting_ >= 1;
        wanted = missing && !handshake_answered_ && (quiet_handshakes_ < kHandshakesAtOnce || rested);
    } else if (!pings) {
        wanted = rested && (!handshake_works_ || (connection != nullptr && !is_short(*connection)));
    }
    if (wanted && handshakes_allowed_) {
        last_handshake_ns_ = now_ns;
        if (handshakes_.begin(peer_, port_, now_ns) && quiet) {
            ++quiet_handshakes_;
            if (!handshake_asked_ns_) handshake_asked_ns_ = now_ns;
        }
    }
    ++pings_asked_;
    if (!pinger_.send()) return;
    if (!ping_sent_ns_) ping_sent_ns_ = now_ns;
    ++pings_waiting_;
}

bool ServerPath::watched(const std::string& address) const {
    return servers_.empty() ? address == most_ : servers_.contains(address);
}

void ServerPath::add(const TcpConnection& connection) {
    const auto [first, is_new] = first_.emplace(connection.id, first_look_ ? connection.received_bytes : 0);
    const auto [known, unknown] = known_.try_emplace(connection.id);
    TcpConnection& before = known->second;
    if (unknown && first_look_) before = connection;
    Peer& peer = peers_[connection.peer];
    Counters& counters = peer.counters;
    const std::uint64_t bytes = growth(connection.received_bytes, before.received_bytes);
    counters.bytes += bytes + growth(connection.acknowledged_bytes, before.acknowledged_bytes);
    counters.received_segments += growth(connection.received_segments, before.received_segments);
    counters.out_of_order += growth(connection.out_of_order, before.out_of_order);
    counters.sent_segments += growth(connection.sent_segments, before.sent_segments);
    counters.resent += growth(connection.resent, before.resent);
    peer.received |= bytes > 0;
    peer.unacknowledged |= connection.unacknowledged;
    if (!peer.busiest || connection.received_bytes > peer.busiest->received_bytes) peer.busiest = connection;
    const std::uint64_t since_first = growth(connection.received_bytes, first->second);
    if (since_first > 0 && (!busiest_ || since_first > busiest_->received_bytes))
        busiest_ = {connection.peer, since_first, connection.received_segments, connection.out_of_order};
    before = connection;
}

void ServerPath::count(const std::vector<TcpConnection>& all) {
    busiest_.reset();
    for (auto& [address, peer] : peers_) {
        peer.received = peer.unacknowledged = false;
        peer.busiest.reset();
    }
    std::set<std::string> there;
    for (const TcpConnection& each : all) {
        if (servers_.empty() ? is_this_computer(each.peer) : !servers_.contains(each.peer)) continue;
        there.insert(each.id);
        add(each);
    }
    std::erase_if(known_, [&there](const auto& each) { return !there.contains(each.first); });
    std::erase_if(first_, [&there](const auto& each) { return !there.contains(each.first); });
    first_look_ = false;
    most_bytes_ = 0;
    for (const auto& [address, peer] : peers_) {
        if (peer.counters.bytes <= most_bytes_) continue;
        most_bytes_ = peer.counters.bytes;
        most_ = address;
    }
    forget_the_gone();
}

/// A computer meets any number of peers in a day.
void ServerPath::forget_the_gone() {
    for (auto& [address, peer] : peers_) {
        if (watched(address)) continue;
        peer.host.reset();
        peer.counted.reset();
    }
    if (peers_.size() <= kPeersMax) return;
    std::erase_if(peers_, [this](const auto& each) { return !watched(each.first) && !each.second.busiest; });
}

bool ServerPath::is_due() {
    // The kernel walks its whole table of connections, which takes a millisecond: 0.8 % of a processor.
    const bool any_server = !servers_.empty() || most_bytes_ >= kServerBytesMin;
    return any_server || looks_++ % kLooksWithoutServer == 0;
}

void ServerPath::look(std::int64_t now_ns, const std::vector<TcpConnection>& all) {
    const std::int64_t step_ns = last_ns_ == 0 ? 0 : std::min(now_ns - last_ns_, kSampleGapNsMax);
    last_ns_ = now_ns;
    count(all);
    Counters sum;
    ServerHost::Look worst;
    bool any = false;
    bool quiet = true;
    bool unacknowledged = false;
    for (auto& [address, peer] : peers_) {
        if (peer.busiest) peer.connected_ns = now_ns;
        if (!watched(address) || peer.counters.bytes < kServerBytesMin) continue;
        if (servers_.empty() && now_ns - peer.connected_ns > kGuessKeptNs) {
            peer.host.reset();
            continue;
        }
        any = true;
        // Traffic of before it was a server is not the path's, unless there was no server at all.
        if (!peer.counted) peer.counted = path_.peer.empty() ? Counters() : peer.counters;
        sum.received_segments += peer.counters.received_segments - peer.counted->received_segments;
        sum.out_of_order += peer.counters.out_of_order - peer.counted->out_of_order;
        sum.sent_segments += peer.counters.sent_segments - peer.counted->sent_segments;
        sum.resent += peer.counters.resent - peer.counted->resent;
        peer.counted = peer.counters;
        if (!peer.host && peer.busiest) peer.host.emplace(*peer.busiest, handshakes_);
        if (!peer.host) continue;
        const TcpConnection* connection = peer.busiest ? &*peer.busiest : nullptr;
        const ServerHost::Look found = peer.host->look(now_ns, step_ns, !peer.received, connection);
        worst.no_carrier_ns = std::max(worst.no_carrier_ns, found.no_carrier_ns);
        worst.unanswered_ns = std::max(worst.unanswered_ns, found.unanswered_ns);
        path_.quiet_answers += found.quiet_answers;
        path_.refused += found.refused;
        quiet &= !peer.received;
        unacknowledged |= !peer.received && peer.unacknowledged;
        if (address != most_) continue;
        if (found.rtt_ns) rtt_ns_ = found.rtt_ns;
        if (peer.host->answers_pings() || connection == nullptr) continue;
        if (peer.received && !found.rtt_ns && is_short(*connection)) rtt_ns_ = connection->rtt_ns;
        rtt_min_ns_ = std::min(rtt_min_ns_.value_or(INT64_MAX), connection->rtt_min_ns);
    }
    if (!any) return;
    if (sum.out_of_order >= kLossSegmentsMin && sum.out_of_order * 100 >= sum.received_segments * kLossPercent)
        ++path_.lossy_samples;
    path_.peer = most_;
    path_.received_segments += sum.received_segments;
    path_.out_of_order += sum.out_of_order;
    path_.sent_segments += sum.sent_segments;
    path_.resent += sum.resent;
    path_.quiet_ns += quiet ? step_ns : 0;
    path_.no_carrier_ns += worst.no_carrier_ns;
    path_.unanswered_ns += worst.unanswered_ns;
    path_.unacknowledged_ns += unacknowledged ? step_ns : 0;
}

void ServerPath::fill(SystemSample& sample) {
    sample.connection = busiest_;
    sample.rtt_ns = std::exchange(rtt_ns_, std::nullopt);
    sample.rtt_min_ns = rtt_min_ns_;
    if (!path_.peer.empty()) sample.path = path_;
}

}  // namespace streamsim::host
