// TCP handshakes with a server's port: its kernel answers them also where its processes do not, and they need
// no privilege. Inside host/ only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace streamsim::host {

/// One thread. Each connection is closed as soon as it is established; no data is sent.
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

    /// Opens the sockets in the namespace of the calling thread.
    /// False: this computer had no socket for it, which says nothing about the peer. Without a route to the
    /// peer the handshake counts as begun.
    bool begin(const std::string& peer, std::uint16_t port, bool ipv6, std::int64_t now_ns);
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
