// The first message to an SMB server, sent once by ourselves on a connection of its own: libsmbclient neither
// tells the dialect and the largest read that it negotiates, nor why nothing came of it.
#pragma once

#include <cstdint>
#include <string>

#include "storage/smb/smb_wire.h"

namespace streamsim::storage {

struct Negotiated {
    int error = 0;                      // errno
    SmbStep step = SmbStep::find_host;  // with an error: where it happened
    std::string address;                // as a number
    std::uint32_t dialect = 0;          // 0x0202 to 0x0311
    std::uint32_t read_bytes = 0;
};

/// Blocks for `timeout_ms` at most, besides looking up the name. EPROTO: it does not speak SMB 2 or 3.
Negotiated negotiate(const std::string& host, std::uint32_t port, std::uint32_t timeout_ms);

}  // namespace streamsim::storage
