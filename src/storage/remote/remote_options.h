// What the backends that speak to a file server themselves have in common.
#pragma once

#include <cstdint>
#include <string>

#include "streamsim/remote_place.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

struct RemoteOptions {
    /// Reads and opens in flight at once, over all streams of this loop; more wait in order.
    std::uint32_t parallel_reads = 64;
    std::uint32_t parallel_opens = 16;
    /// Connections are made for the nodes that the seats from `first_seat` on use, which are so many.
    std::uint32_t first_seat = 0;
    std::uint32_t seats = 1;
    Credentials credentials;  // of SMB
    /// Told once about each thing that could not be had, and about connections that were lost and came back.
    /// May be empty.
    NoticeSink notice;
};

}  // namespace streamsim::storage
