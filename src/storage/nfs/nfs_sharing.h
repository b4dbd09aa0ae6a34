// The knowledge about the NFS servers of one place, and a connection to each, which its byte stores leave for
// its storages: finding the export takes some seven round trips.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/system/mutex.h"
#include "base/time.h"
#include "storage/clock_now.h"
#include "storage/nfs/nfs_server.h"

namespace streamsim::storage {

struct NfsFacts {
    std::uint32_t version = 3;
    std::string mounted;
    NfsHandle root;  // of `mounted`
    std::uint16_t nfs_port = 0;
    std::uint16_t mount_port = 0;
};

/// By NfsServer::identity. Thread-safe.
class NfsSharing {
public:
    std::optional<NfsFacts> facts(const std::string& identity) {
        const MutexLock lock(mutex_);
        const auto known = servers_.find(identity);
        return known == servers_.end() ? std::nullopt : std::optional(known->second.facts);
    }
    /// Keeps the facts of a connected server, and the server itself.
    NfsFacts leave(std::unique_ptr<NfsServer> server) {
        const NfsNode& node = *server->nodes().front();
        const MutexLock lock(mutex_);
        Known& known = servers_[server->identity()];
        known.facts = {node.version(), node.mounted(), node.root(), node.nfs_port(), node.mount_port()};
        known.server = std::move(server);
        known.left_at = clock_now();
        return known.facts;
    }
    /// The server, connected; null: there is none, or it was left too long ago for nobody to have closed it.
    std::unique_ptr<NfsServer> take(const std::string& identity) {
        constexpr Duration kIdleMax = seconds(10);
        const MutexLock lock(mutex_);
        const auto known = servers_.find(identity);
        if (known == servers_.end()) return nullptr;
        auto server = std::move(known->second.server);
        return clock_now() - known->second.left_at <= kIdleMax ? std::move(server) : nullptr;
    }
    void forget(const std::string& identity) {
        const MutexLock lock(mutex_);
        servers_.erase(identity);
    }

private:
    struct Known {
        NfsFacts facts;
        std::unique_ptr<NfsServer> server;
        Instant left_at;
    };
    Mutex mutex_;
    std::map<std::string, Known> servers_ GUARDED_BY(mutex_);
};

}  // namespace streamsim::storage
