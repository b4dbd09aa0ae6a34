// What the blocking side of an NFS server shares between threads: a session for each of a few, and what
// directories that were listed a moment ago have said of their files. Far from a server every question costs a
// round trip, and libnfs asks once for each component of a path.
#pragma once

#include <uv.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "storage/nfs/nfs_session.h"
#include "streamsim/byte_store.h"

namespace streamsim::storage {

/// Sessions of one server. One thread alone uses the first and no other.
class NfsSessions {
public:
    NfsSessions(RemotePlace place, std::string directory)
        : place_(std::move(place)), directory_(std::move(directory)) {}

    /// One that nobody uses; the first where all are used and there are enough.
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

/// The files of directories that were listed up to kKnownFor ago. Any thread.
class ListedFiles {
public:
    /// `files`: by name; nothing is known of a symbolic link.
    using Files = std::map<std::string, std::optional<FileInfo>>;

    void learn(const std::string& directory, Files files) {
        const std::lock_guard lock(mutex_);
        directories_[directory] = {now(), std::move(files)};
    }
    /// Nothing: the server has to be asked. A nullopt inside: there is no such file.
    std::optional<std::optional<FileInfo>> find(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        if (slash == std::string::npos || slash + 1 == path.size()) return std::nullopt;
        const std::lock_guard lock(mutex_);
        const auto directory = directories_.find(slash == 0 ? "/" : path.substr(0, slash));
        if (directory == directories_.end()) return std::nullopt;
        if (now() - directory->second.learnt_at > kKnownFor) {
            directories_.erase(directory);
            return std::nullopt;
        }
        const auto file = directory->second.files.find(path.substr(slash + 1));
        if (file == directory->second.files.end()) return std::optional<FileInfo>();
        if (!file->second) return std::nullopt;
        return file->second;
    }
    /// The file or directory of this name was changed through this store.
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
    static constexpr Duration kKnownFor = seconds(10);
    static Instant now() { return {static_cast<std::int64_t>(uv_hrtime())}; }

    struct Directory {
        Instant learnt_at;
        Files files;
    };
    std::mutex mutex_;
    std::map<std::string, Directory> directories_;  // protected by mutex_; by path
};

}  // namespace streamsim::storage
