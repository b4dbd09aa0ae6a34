// An NFS server: the nodes of it that the seats of one loop use, and connecting to them.
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
    ~NfsServer();
    NfsServer(const NfsServer&) = delete;
    NfsServer& operator=(const NfsServer&) = delete;

    /// Makes all connections, with the version that the URL says, or 3, or 4. Blocks for the place's timeout at
    /// most. Errors: environment, naming host, path and reason.
    Result<void> connect();

    const RemotePlace& place() const { return place_; }
    /// Readable when a connection has something.
    int epoll() const { return epoll_; }
    const std::vector<std::unique_ptr<NfsNode>>& nodes() const { return nodes_; }
    /// The node behind each address; behind one that no seat uses, another.
    const std::vector<NfsNode*>& node_by_address() const { return node_by_address_; }

    /// Answers what has come, and waits for it for so long.
    void wait_and_serve(Duration at_most);

private:
    void make_nodes(std::uint32_t version);
    std::optional<std::string> connect_with(std::uint32_t version, Instant until);
    std::optional<std::string> look_for_directory(Instant until);
    std::optional<int> try_open(NfsNode& node, const std::string& path, Instant until);

    const RemotePlace place_;
    const std::string directory_;
    const RemoteOptions options_;
    const int epoll_;
    std::vector<std::unique_ptr<NfsNode>> nodes_;
    std::vector<NfsNode*> node_by_address_;
};

}  // namespace streamsim::storage
