// The first message to an SMB server, sent on a connection of its own: libsmbclient reports neither the dialect
// and the largest read that it negotiates, nor why negotiating failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/smb/smb_wire.h"

namespace streamsim::storage {

struct Negotiated {
    int error = 0;                      // errno
    SmbStep step = SmbStep::find_host;  // with an error: the step that failed
    std::string address;                // numeric
    std::uint32_t dialect = 0;          // 0x0202 to 0x0311
    std::uint32_t read_bytes = 0;
};

/// Reads the server's answer, an SMB 2 message without its framing. Returns zero or EPROTO.
int read_negotiated(std::span<const std::byte> message, Negotiated& found);

/// Blocks for `timeout_ms` at most, besides resolving the name. EPROTO: the server does not speak SMB 2 or 3.
Negotiated negotiate(const std::string& host, std::uint32_t port, std::uint32_t timeout_ms);

}  // namespace streamsim::storage
