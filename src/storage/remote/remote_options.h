// Options that the NFS and SMB backends share.
#pragma once

#include <cstdint>
#include <string>

#include "streamsim/remote_place.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

struct RemoteOptions {
    /// Reads, and opens, in flight at once over all streams of this loop; more wait in order.
    std::uint32_t parallel_reads = 64;
    std::uint32_t parallel_opens = 16;
    /// Connections are made to the nodes that `seats` seats use, from `first_seat` on each `seat_step`th.
    std::uint32_t first_seat = 0;
    std::uint32_t seat_step = 1;
    std::uint32_t seats = 1;
    Credentials credentials;  // SMB
    /// Receives each unavailable capability once, and each connection that was lost or restored. May be empty.
    NoticeSink notice;
};

}  // namespace streamsim::storage
