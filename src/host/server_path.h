// The network path to the file servers that data comes from, by what TCP counts and by what their hosts answer.
// Inside host/ only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/connections.h"
#include "host/handshakes.h"
#include "streamsim/system_history.h"

namespace streamsim::host {

/// One server's host. Bytes that stop tell nothing of who stopped: a host that answers in that time is reached,
/// and one that does not, and had answered before, is not.
class ServerHost {
public:
    /// The server that echoes (ICMP echo requests, "ping") and TCP handshakes go to, in the network namespace
    /// of the calling thread.
    void aim_at(const TcpConnection& connection, bool handshakes);
    bool aimed() const { return !peer_.empty(); }

    /// What a look found. Times are of this look, in ns.
    struct Look {
        std::int64_t no_carrier_ns = 0, unanswered_ns = 0;
        std::uint64_t quiet_answers = 0, refused = 0;
        std::optional<std::int64_t> rtt_ns;
    };
    /// Takes answers, and asks anew. `quiet`: no byte came from it since the last look, `step_ns` ago.
    Look look(std::int64_t now_ns, std::int64_t step_ns, bool quiet, const TcpConnection* connection);
    bool answers_echoes() const { return echo_works_; }

private:
    void take_answers(std::int64_t now_ns, bool quiet, Look& found);
    void ask(std::int64_t now_ns, bool quiet, const TcpConnection* connection);
    std::int64_t unanswered_for(std::int64_t now_ns) const;

    std::string peer_;
    std::uint16_t port_ = 0;
    bool ipv6_ = false;
    std::optional<std::string> interface_;  // toward it
    bool had_carrier_ = false;
    Echo echo_;
    Handshakes handshakes_;
    bool handshakes_allowed_ = false;
    bool echo_works_ = false, handshake_works_ = false;
    std::uint64_t echoes_asked_ = 0;
    std::int64_t last_handshake_ns_ = INT64_MIN;
    std::uint64_t quiet_handshakes_ = 0;                              // asked in this quiet time
    bool handshake_answered_ = false;                                 // in this quiet time
    std::optional<std::int64_t> echo_asked_ns_, handshake_asked_ns_;  // the first that has had no answer
    std::uint64_t echoes_waiting_ = 0;
    std::int64_t rtt_ns_ = 0;  // the last known
    bool unanswered_ = false;
    bool was_quiet_ = false;  // in the last look
};

/// All of them.
class ServerPath {
public:
    /// `servers`: their addresses as numbers; empty: the one that most is exchanged with counts as one. Where
    /// that may be anybody, there are no handshakes.
    ServerPath(const std::vector<std::string>& servers, bool handshakes)
        : servers_(servers.begin(), servers.end()), handshakes_(handshakes) {}

    /// To be called some times a second, always by the same thread.
    void look(std::int64_t now_ns);
    /// What is known so far.
    void fill(SystemSample& sample);

private:
    struct Counters {
        std::uint64_t bytes = 0;  // both ways, since the first look
        std::uint64_t received_segments = 0, out_of_order = 0, sent_segments = 0, resent = 0;
    };
    struct Peer {
        Counters counters;
        bool received = false;  // in the last look
        bool unacknowledged = false;
        std::optional<TcpConnection> busiest;  // of the last look
        ServerHost host;
    };
    void count(const std::vector<TcpConnection>& all);
    void add(const TcpConnection& connection);
    bool watched(const std::string& address) const;

    const std::set<std::string> servers_;
    const bool handshakes_;
    bool first_look_ = true;
    std::int64_t last_ns_ = 0;
    std::map<std::string, TcpConnection> known_;  // by their ids, as they were at the last look
    std::map<std::string, std::uint64_t> first_;  // bytes, by the same
    std::map<std::string, Peer> peers_;           // by address
    std::string most_;                            // of peers_: that most came from
    std::optional<SystemSample::Connection> busiest_;
    std::optional<std::int64_t> rtt_ns_, rtt_min_ns_;
    SystemSample::Path path_;
};

}  // namespace streamsim::host
