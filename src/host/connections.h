// TCP connections of a network namespace, as the kernel knows them, and requests that a host answers. Inside
// host/ only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace streamsim::host {

struct TcpConnection {
    std::string id;    // both ends with their ports
    std::string peer;  // the address of the other end
    std::uint16_t peer_port = 0;
    std::uint64_t received_bytes = 0;
    std::uint64_t acknowledged_bytes = 0;  // of ours
    std::uint64_t received_segments = 0;
    std::uint64_t out_of_order = 0;
    std::uint64_t sent_segments = 0;
    std::uint64_t resent = 0;     // our segments that were sent again after a loss
    bool unacknowledged = false;  // our data was sent again after a timeout, and is not acknowledged yet
    std::int64_t rtt_ns = 0;      // smoothed; includes delayed acknowledgements of the peer's kernel
    std::int64_t rtt_min_ns = 0;  // of the last minutes
};

/// The established connections in the namespace of the calling thread. nullopt: the kernel did not list them
/// all.
std::optional<std::vector<TcpConnection>> tcp_connections();

/// The interface by which packets to an address (as a number) leave, in the namespace of the calling thread;
/// "lo" for this computer's own. nullopt: there is no route, or the address is no number.
std::optional<std::string> interface_toward(const std::string& address);

/// True: the interface is up and has a carrier, in the namespace of the calling thread.
bool has_carrier(const std::string& interface);

/// Measures the round-trip time to a host by pings (ICMP). One thread.
class Pinger {
public:
    Pinger() = default;
    ~Pinger();
    Pinger(const Pinger&) = delete;
    Pinger& operator=(const Pinger&) = delete;

    /// Sets the host of the next pings, and opens the sockets in the namespace of the calling thread. Does
    /// nothing for the same host as before.
    void aim_at(const std::string& peer);
    /// Sends one ping, if this system allows it. False: this computer had no socket or no memory for
    /// it, which says nothing about the peer. Without a route to the peer the request counts as sent.
    bool send();
    /// Waits up to `wait_ms` for answers. True: one came, see last_ns().
    bool receive(int wait_ms);
    /// The round-trip time of the last answer, by the kernel's stamp of its arrival.
    std::int64_t last_ns() const { return last_ns_; }

private:
    bool take_one();

    int fd_ = -1;
    bool raw_ = false;
    std::string peer_;
    std::uint64_t mark_ = 0;  // of its packets
    std::uint16_t sequence_ = 0;
    std::int64_t last_ns_ = 0;
};

/// TCP handshakes with a server's port: its kernel answers them also where its processes do not, and they need
/// no privilege. One thread. Each connection is closed as soon as it is established; no data is sent.
class Handshakes {
public:
    struct Answers {
        bool any = false;
        bool refused = false;                // the host answered, and no process listens
        std::optional<std::int64_t> rtt_ns;  // of the last accepted handshake
    };

    Handshakes() = default;
    ~Handshakes();
    Handshakes(const Handshakes&) = delete;
    Handshakes& operator=(const Handshakes&) = delete;

    /// Opens the socket in the namespace of the calling thread. False: this computer had no socket for it,
    /// which says nothing about the peer. Without a route to the peer the handshake counts as begun.
    bool begin(const std::string& peer, std::uint16_t port, std::int64_t now_ns);
    /// Answers since the last call. Never waits.
    Answers receive(std::int64_t now_ns);

private:
    struct Pending {
        int fd = -1;
        std::int64_t begun_ns = 0;
    };
    std::deque<Pending> pending_;
    Answers at_once_;  // answers that begin() got at once
};

}  // namespace streamsim::host
