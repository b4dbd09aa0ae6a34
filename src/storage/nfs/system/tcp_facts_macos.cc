#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "storage/nfs/system/tcp_facts.h"

namespace streamsim::storage {

std::optional<TcpFacts> tcp_facts(int socket) {
    tcp_connection_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &size) != 0) return std::nullopt;
    constexpr std::int64_t kMillisecond = 1'000'000;
    return TcpFacts{info.tcpi_rxbytes, info.tcpi_txretransmitpackets, info.tcpi_srtt * kMillisecond};
}

}  // namespace streamsim::storage
