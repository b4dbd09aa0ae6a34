// A cache of the files in directories that were listed a moment ago. Far from a server every request costs a
// round trip, and libnfs sends one for each component of a path.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/path.h"
#include "base/system/mutex.h"
#include "storage/clock_now.h"
#include "streamsim/byte_store.h"

namespace streamsim::storage {

/// The files of directories that were listed at most kValidFor ago. Thread-safe.
class ListedFiles {
public:
    /// By name; none for a symbolic link, whose target is not known.
    using Files = std::map<std::string, std::optional<FileInfo>>;

    void put(const std::string& directory, Files files) {
        const MutexLock lock(mutex_);
        directories_[directory] = {clock_now(), std::move(files)};
    }
    /// None: ask the server. None inside: there is no such file.
    std::optional<std::optional<FileInfo>> find(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        if (slash == std::string::npos || slash + 1 == path.size()) return std::nullopt;
        const MutexLock lock(mutex_);
        const auto directory = directories_.find(parent_of(path));
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
        const MutexLock lock(mutex_);
        std::erase_if(directories_, [inside = path + "/", &path](const auto& each) {
            return each.first == path || each.first.starts_with(inside);
        });
        if (slash == std::string::npos) return;
        const auto directory = directories_.find(parent_of(path));
        if (directory != directories_.end()) directory->second.files[path.substr(slash + 1)] = std::nullopt;
    }
    void forget_all() {
        const MutexLock lock(mutex_);
        directories_.clear();
    }

private:
    static constexpr Duration kValidFor = seconds(10);

    struct Directory {
        Instant listed_at;
        Files files;
    };
    Mutex mutex_;
    std::map<std::string, Directory> directories_ GUARDED_BY(mutex_);  // by path
};

}  // namespace streamsim::storage
