#include "storage/nfs/system/socket_poll.h"

namespace streamsim::storage {

void poll_sockets(std::span<pollfd> sockets, Duration timeout) {
    const auto timeout_ms = static_cast<int>(timeout.ns / 1'000'000);
    if (sockets.empty()) {  // an error for WSAPoll()
        if (timeout_ms > 0) uv_sleep(static_cast<unsigned int>(timeout_ms));
        return;
    }
    if (WSAPoll(sockets.data(), static_cast<ULONG>(sockets.size()), timeout_ms) >= 0) return;
    for (pollfd& socket : sockets) socket.revents = 0;
}

}  // namespace streamsim::storage
