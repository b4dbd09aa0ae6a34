// TCP connections of a network namespace, as the kernel knows them. Inside host/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace streamsim::host {

struct TcpConnection {
    std::string id;    // both ends with their ports
    std::string peer;  // the address of the other end
    std::uint16_t peer_port = 0;
    bool ipv6 = false;
    std::uint64_t received_bytes = 0;
    std::uint64_t acknowledged_bytes = 0;  // of ours
    std::uint64_t received_segments = 0;
    std::uint64_t out_of_order = 0;
    std::uint64_t sent_segments = 0;
    std::uint64_t resent = 0;     // of ours, as they were lost
    bool unacknowledged = false;  // data of ours was sent again after a timeout, and is not acknowledged yet
    std::int64_t rtt_ns = 0;      // smoothed; holds what the peer's kernel delays an acknowledgement, too
    std::int64_t rtt_min_ns = 0;  // of the last minutes
};

/// Those that are established, in the namespace of the calling thread. Empty where the kernel does not tell.
std::vector<TcpConnection> tcp_connections();

/// The interface by which packets for an address (as a number) leave, in the namespace of the calling thread;
/// "lo" for this computer's own. nullopt: there is no way to it, or it is no number.
std::optional<std::string> interface_toward(const std::string& address);

/// Whether an interface is up and has a carrier, in the namespace of the calling thread.
bool has_carrier(const std::string& interface);

/// An errno that says that no packet of ours gets to the peer.
bool is_unreachable(int error);

/// Asks a host for an echo (ICMP) and times the answers. One thread.
class Echo {
public:
    Echo() = default;
    ~Echo();
    Echo(const Echo&) = delete;
    Echo& operator=(const Echo&) = delete;

    /// To whom the next ones go; the sockets are made in the namespace of the calling thread. Does nothing when
    /// it is the same as before.
    void aim_at(const std::string& peer, bool ipv6);
    /// Sends one, if that is allowed here. False: this computer had no socket or no memory for it, which says
    /// nothing about the peer; without a way to the peer it is as sent.
    bool send();
    /// Waits up to `wait_ms` for answers. True: one came, see last_ns().
    bool receive(int wait_ms);
    /// How long the last answer took, by the kernel's own stamp of its arrival.
    std::int64_t last_ns() const { return last_ns_; }

private:
    bool take_one();

    int fd_ = -1;
    bool ipv6_ = false;
    bool raw_ = false;
    std::string peer_;
    std::uint16_t sequence_ = 0;
    std::int64_t last_ns_ = 0;
};

}  // namespace streamsim::host
