// The sessions of an NFS server that the threads of the blocking side share, and a cache of the files in
// directories that were listed a moment ago. Far from a server every request costs a round trip, and libnfs
// sends one for each component of a path.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "storage/nfs/nfs_session.h"
#include "storage/remote/clock_now.h"
#include "streamsim/byte_store.h"

namespace streamsim::storage {

/// Sessions of one server. A single thread uses the first one only.
class NfsSessions {
public:
    NfsSessions(RemotePlace place, std::string directory)
        : place_(std::move(place)), directory_(std::move(directory)) {}

    /// A session that no thread uses; one of the others, in turn, when kSessionsMax are in use.
    std::shared_ptr<NfsSession> take() {
        const std::lock_guard lock(mutex_);
        for (const auto& session : all_) {
            if (!session->busy()) return session;
        }
        if (all_.size() == kSessionsMax) return all_[next_++ % all_.size()];
        return all_.emplace_back(std::make_shared<NfsSession>(place_, directory_));
    }

private:
    static constexpr std::size_t kSessionsMax = 8;

    const RemotePlace place_;
    const std::string directory_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<NfsSession>> all_;  // protected by mutex_
    std::size_t next_ = 0;                          // protected by mutex_
};

/// The files of directories that were listed at most kValidFor ago. Thread-safe.
class ListedFiles {
public:
    /// By name; none for a symbolic link, whose target is not known.
    using Files = std::map<std::string, std::optional<FileInfo>>;

    void put(const std::string& directory, Files files) {
        const std::lock_guard lock(mutex_);
        directories_[directory] = {clock_now(), std::move(files)};
    }
    /// None: ask the server. None inside: there is no such file.
    std::optional<std::optional<FileInfo>> find(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        if (slash == std::string::npos || slash + 1 == path.size()) return std::nullopt;
        const std::lock_guard lock(mutex_);
        const auto directory = directories_.find(slash == 0 ? "/" : path.substr(0, slash));
        if (directory == directories_.end()) return std::nullopt;
        if (clock_now() - directory->second.listed_at > kValidFor) {
            directories_.erase(directory);
            return std::nullopt;
        }
        const auto file = directory->second.files.find(path.substr(slash + 1));
        if (file == directory->second.files.end()) return std::optional<FileInfo>();
        if (!file->second) return std::nullopt;
        return file->second;
    }
    /// Drops a file or directory that this store has changed.
    void forget(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        const std::lock_guard lock(mutex_);
        std::erase_if(directories_, [inside = path + "/", &path](const auto& each) {
            return each.first == path || each.first.starts_with(inside);
        });
        if (slash == std::string::npos) return;
        const auto directory = directories_.find(slash == 0 ? "/" : path.substr(0, slash));
        if (directory != directories_.end()) directory->second.files[path.substr(slash + 1)] = std::nullopt;
    }
    void forget_all() {
        const std::lock_guard lock(mutex_);
        directories_.clear();
    }

private:
    static constexpr Duration kValidFor = seconds(10);

    struct Directory {
        Instant listed_at;
        Files files;
    };
    std::mutex mutex_;
    std::map<std::string, Directory> directories_;  // protected by mutex_; by path
};

}  // namespace streamsim::storage
