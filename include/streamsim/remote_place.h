// A share of a file server, as a URL names it: nfs://host/export/dir, smb://host/share/dir. Storage backends
// speak the server's protocol themselves; nothing is mounted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace streamsim {

struct RemotePlace {
    enum class Protocol { nfs, smb };
    Protocol protocol = Protocol::nfs;
    std::string host;  // as typed
    /// The nodes of `host`, as numeric addresses or names: from the URL, or from the name service; empty until
    /// that has been asked. Seats use them round robin, by seat number.
    std::vector<std::string> addresses;
    std::uint16_t port = 0;                 // NFS or SMB; 0: the protocol's default
    std::uint16_t mount_port = 0;           // NFSv3's mount service; 0: ask the port mapper
    std::optional<std::uint32_t> version;   // NFS: 3 or 4; none: the first that the server supports
    std::uint32_t connections = 1;          // to each node
    std::uint64_t read_bytes = 0;           // largest read of one request; 0: as negotiated
    std::string user, domain;               // SMB; a password is never here
    std::optional<std::uint32_t> uid, gid;  // NFS (AUTH_SYS); none: this process's
    /// The timeout of connecting, of mounting, and of one request, reconnections included. Afterwards the
    /// operation fails with ETIMEDOUT.
    Duration timeout = seconds(10);

    const std::string& address_of(std::uint32_t seat) const { return addresses[seat % addresses.size()]; }
};

/// The user of an SMB server. Never in a URL, a result, a log or a process list.
struct Credentials {
    std::string user, domain, password;
};

}  // namespace streamsim
