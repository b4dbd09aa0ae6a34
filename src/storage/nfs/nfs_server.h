// An NFS server: the nodes that the seats of one loop use, with their connections.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/nfs/nfs_node.h"
#include "storage/remote/remote_options.h"

namespace streamsim::storage {

class NfsServer {
public:
    /// REQUIRES: the addresses of `place` are resolved.
    NfsServer(RemotePlace place, std::string directory, const RemoteOptions& options);

    /// Makes all connections, with the version that the URL says, or 3, or 4. Blocks for the place's timeout at
    /// most. Errors: environment, naming host, path and reason.
    Result<void> connect();

    /// Another loop takes the server over, with its own options. REQUIRES: the place has one address.
    void adopt(const RemoteOptions& options);

    const RemotePlace& place() const { return place_; }
    /// Equal for servers that connect in the same way to the same place.
    std::string identity() const;
    /// From here on replies wake this loop. REQUIRES: connect() has ended well.
    void wake(uv_loop_t* loop);
    const std::vector<std::unique_ptr<NfsNode>>& nodes() const { return nodes_; }
    /// The node of each address; for an address that no seat uses, the first node.
    const std::vector<NfsNode*>& node_by_address() const { return node_by_address_; }

    /// Handles the replies that have arrived, or that arrive within `timeout`.
    void wait_and_serve(Duration timeout);

private:
    void make_nodes(std::uint32_t version);
    std::optional<std::string> connect_with(std::uint32_t version, Instant until);
    std::optional<std::string> check_directory(Instant until);
    std::optional<int> try_open(NfsNode& node, const std::string& path, Instant until);

    const RemotePlace place_;
    const std::string directory_;
    RemoteOptions options_;
    std::vector<std::unique_ptr<NfsNode>> nodes_;
    std::vector<NfsNode*> node_by_address_;
    // For wait_and_serve(): the same number of each.
    std::vector<pollfd> sockets_;
    std::vector<NfsConnection*> connections_;
};

}  // namespace streamsim::storage
