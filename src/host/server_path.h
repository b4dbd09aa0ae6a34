// The network path to the file servers that data comes from, by the counters of TCP and by answers of their
// hosts. Inside host/ only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/connections.h"
#include "streamsim/system_history.h"

namespace streamsim::host {

/// One server's host. When no bytes come, a host that answers meanwhile is reachable; a host that does not
/// answer, and had answered before, is not.
class ServerHost {
public:
    /// Pings and handshakes go to the server of this connection, in the network namespace of the calling
    /// thread.
    ServerHost(const TcpConnection& connection, bool handshakes);

    /// The findings of one sample. Times are of this sample, in ns.
    struct Look {
        std::int64_t no_carrier_ns = 0, unanswered_ns = 0;
        std::uint64_t quiet_answers = 0, refused = 0;
        std::optional<std::int64_t> rtt_ns;
    };
    /// Takes answers, and sends new requests. `quiet`: no byte came since the last sample, `step_ns` ago.
    Look look(std::int64_t now_ns, std::int64_t step_ns, bool quiet, const TcpConnection* connection);
    bool answers_pings() const { return ping_works_; }

private:
    void take_answers(std::int64_t now_ns, bool quiet, Look& found);
    void ask(std::int64_t now_ns, bool quiet, const TcpConnection* connection);
    std::int64_t unanswered_for(std::int64_t now_ns) const;

    const std::string peer_;
    const std::uint16_t port_;
    const std::optional<std::string> interface_;  // toward it
    const bool had_carrier_;
    const bool handshakes_allowed_;
    Pinger pinger_;
    Handshakes handshakes_;
    bool ping_works_ = false, handshake_works_ = false;
    std::uint64_t pings_asked_ = 0;
    std::int64_t last_handshake_ns_ = INT64_MIN;
    std::uint64_t quiet_handshakes_ = 0;                             // sent in this quiet time
    bool handshake_answered_ = false;                                // in this quiet time
    std::optional<std::int64_t> ping_sent_ns_, handshake_asked_ns_;  // the first without an answer
    std::uint64_t pings_waiting_ = 0;
    std::uint64_t pings_in_vain_ = 0;  // samples with data since the last answer to a ping
    std::int64_t rtt_ns_ = 0;          // the last known
    bool unanswered_ = false;
    bool was_quiet_ = false;  // at the last sample
};

/// The paths to all file servers together.
class ServerPath {
public:
    /// `servers`: their addresses as numbers; empty: the peer with most bytes counts as the server, this
    /// computer left out. A peer that may be any host gets no handshakes.
    ServerPath(const std::vector<std::string>& servers, bool handshakes)
        : servers_(servers.begin(), servers.end()), handshakes_(handshakes) {}

    /// Called some times a second, always by the same thread.
    void look(std::int64_t now_ns) {
        if (!is_due()) return;
        if (const auto all = tcp_connections()) look(now_ns, *all);
    }
    /// The same, with all connections as they are now.
    void look(std::int64_t now_ns, const std::vector<TcpConnection>& all);
    /// All samples so far.
    void fill(SystemSample& sample);

private:
    struct Counters {
        std::uint64_t bytes = 0;  // both ways, since the first sample
        std::uint64_t received_segments = 0, out_of_order = 0, sent_segments = 0, resent = 0;
    };
    struct Peer {
        Counters counters;
        std::optional<Counters> counted;  // of a server: up to here they are in path_
        bool received = false;            // at the last sample
        bool unacknowledged = false;
        std::optional<TcpConnection> busiest;  // of the last sample
        std::optional<ServerHost> host;        // of a server
        std::int64_t connected_ns = 0;         // the last sample with a connection to it
    };
    bool is_due();
    void count(const std::vector<TcpConnection>& all);
    void add(const TcpConnection& connection);
    void forget_the_gone();
    bool watched(const std::string& address) const;

    const std::set<std::string> servers_;
    const bool handshakes_;
    bool first_look_ = true;
    std::int64_t last_ns_ = 0;
    std::map<std::string, TcpConnection> known_;  // by id, at the last sample
    std::map<std::string, std::uint64_t> first_;  // bytes, by id
    std::map<std::string, Peer> peers_;           // by address
    std::string most_;                            // of peers_: the one with most bytes
    std::uint64_t most_bytes_ = 0;                // its bytes
    std::uint64_t looks_ = 0;                     // without a server
    std::optional<SystemSample::Connection> busiest_;
    std::optional<std::int64_t> rtt_ns_, rtt_min_ns_;
    SystemSample::Path path_;
};

}  // namespace streamsim::host
