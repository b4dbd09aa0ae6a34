// TCP handshakes with a server's port: its kernel answers them also where its processes do not, and they need
// no privilege. Inside host/ only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace streamsim::host {

/// One thread. Nothing is sent on the connections; each is closed as soon as it is there.
class Handshakes {
public:
    struct Answers {
        bool any = false;
        bool refused = false;                // the host answered that nobody listens
        std::optional<std::int64_t> rtt_ns;  // of the last that was accepted
    };

    Handshakes() = default;
    ~Handshakes();
    Handshakes(const Handshakes&) = delete;
    Handshakes& operator=(const Handshakes&) = delete;

    /// The sockets are made in the namespace of the calling thread.
    /// False: this computer had no socket for it, which says nothing about the peer; without a way to the peer
    /// it is as begun.
    bool begin(const std::string& peer, std::uint16_t port, bool ipv6, std::int64_t now_ns);
    /// What came since the last call. Never waits.
    Answers receive(std::int64_t now_ns);

private:
    struct Pending {
        int fd = -1;
        std::int64_t begun_ns = 0;
    };
    std::deque<Pending> pending_;
    Answers at_once_;  // that begin() was given
};

}  // namespace streamsim::host
