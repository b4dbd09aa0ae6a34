// A share of a file server, as a URL names it: nfs://host/export/dir, smb://host/share/dir. Storage backends
// speak the server's protocol themselves; nothing is mounted.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace streamsim {

/// The knowledge and the connections that the backends of one place pass on to each other in this process: far
/// from a server, finding and entering it takes longer than reading a frame. Thread-safe.
class RemoteSharing {
public:
    /// The object of the protocol's own class. REQUIRES: the same class in every call.
    template <typename Shared>
    std::shared_ptr<Shared> of() {
        const std::lock_guard lock(mutex_);
        if (shared_ == nullptr) shared_ = std::make_shared<Shared>();
        return std::static_pointer_cast<Shared>(shared_);
    }

private:
    std::mutex mutex_;
    std::shared_ptr<void> shared_;
};

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
    /// Common to all copies of this place.
    std::shared_ptr<RemoteSharing> sharing = std::make_shared<RemoteSharing>();

    const std::string& address_of(std::uint32_t seat) const { return addresses[seat % addresses.size()]; }
    /// "nfs://host/export/dir" of "/export/dir", without user and options; an IPv6 host stands in [brackets].
    std::string name_of(const std::string& path) const {
        const bool numbers = host.find(':') != std::string::npos;
        return (protocol == Protocol::nfs ? "nfs://" : "smb://") + (numbers ? '[' + host + ']' : host) + path;
    }
};

/// The user of an SMB server. Never in a URL, a result, a log or a process list.
struct Credentials {
    std::string user, domain, password;
};

}  // namespace streamsim
