#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "storage/nfs/system/tcp_facts.h"

namespace streamsim::storage {

std::optional<TcpFacts> tcp_facts(int socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
    return TcpFacts{info.tcpi_bytes_received, info.tcpi_total_retrans, std::int64_t{info.tcpi_rtt} * 1000};
}

}  // namespace streamsim::storage
