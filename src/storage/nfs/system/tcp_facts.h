// Facts of a TCP connection, from the system.
#pragma once

#include <cstdint>
#include <optional>

namespace streamsim::storage {

struct TcpFacts {
    std::uint64_t received_bytes = 0;
    std::uint64_t retransmitted_segments = 0;
    std::int64_t rtt_ns = 0;
};

/// None: the connection has ended, or the system does not tell.
std::optional<TcpFacts> tcp_facts(int socket);

}  // namespace streamsim::storage
