#include "storage/nfs/system/socket_poll.h"

namespace streamsim::storage {

void poll_sockets(std::span<pollfd> sockets, Duration timeout) {
    // EINTR: `revents` are still zero.
    (void)poll(sockets.data(), static_cast<nfds_t>(sockets.size()), static_cast<int>(timeout.ns / 1'000'000));
}

}  // namespace streamsim::storage
