// A share of a file server, as a URL names it: nfs://host/export/dir, smb://host/share/dir. Storage backends
// speak to it themselves; nothing is mounted.
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
    /// The nodes behind `host`, as numbers or names: from the URL, else from its name service once it has been
    /// asked; never empty then. A seat uses the one of its number, round robin.
    std::vector<std::string> addresses;
    std::uint16_t port = 0;                 // of NFS or SMB; 0: the protocol's own
    std::uint16_t mount_port = 0;           // of NFSv3's mount service; 0: the port mapper is asked
    std::optional<std::uint32_t> version;   // of NFS: 3 or 4; nothing: what the server has
    std::uint32_t connections = 1;          // to each node
    std::uint64_t read_bytes = 0;           // the most that one request reads; 0: as negotiated
    std::string user, domain;               // of SMB; a password is never here
    std::optional<std::uint32_t> uid, gid;  // of NFS (AUTH_SYS); nothing: this process's
    /// How long a server that does not answer is waited for: connecting, mounting, or one request,
    /// reconnections included. Afterwards the operation has failed with ETIMEDOUT.
    Duration timeout = seconds(10);

    const std::string& address_of(std::uint32_t seat) const { return addresses[seat % addresses.size()]; }
};

/// Who asks. Never in a URL, a result, a log or a process list.
struct Credentials {
    std::string user, domain, password;
};

}  // namespace streamsim
