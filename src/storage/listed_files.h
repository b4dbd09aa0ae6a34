// A cache of the directories that were listed a moment ago, with their files. Far from a server every request
// costs a round trip, and the client libraries send several to look at one file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/system/mutex.h"
#include "storage/clock_now.h"
#include "streamsim/byte_store.h"

namespace streamsim::storage {

/// The replies of the server in the last kValidFor. Thread-safe.
class ListedFiles {
public:
    /// By name; none for a symbolic link, whose target is not known.
    using Files = std::map<std::string, std::optional<FileInfo>>;
    using Entries = std::vector<DirectoryEntry>;

    void put(const std::string& directory, const Entries& entries, Files files) {
        const MutexLock lock(mutex_);
        Directory& known = directories_[bare(directory)];
        known.listing = Listing{clock_now(), entries, std::move(files)};
    }
    /// A directory that stat() found.
    void put_directory(const std::string& directory, const FileInfo& info) {
        const MutexLock lock(mutex_);
        Directory& known = directories_[bare(directory)];
        known.seen_at = clock_now();
        known.info = info;
    }
    /// None: ask the server.
    std::optional<Entries> list(const std::string& directory) {
        const MutexLock lock(mutex_);
        const Listing* const listing = find_listing(bare(directory));
        return listing == nullptr ? std::nullopt : listing->entries;
    }
    /// None: ask the server. None inside: there is no such file.
    std::optional<std::optional<FileInfo>> find(const std::string& path) {
        const MutexLock lock(mutex_);
        const auto itself = directories_.find(bare(path));
        if (itself != directories_.end() && itself->second.info && is_fresh(itself->second.seen_at))
            return itself->second.info;
        const std::size_t slash = path.rfind('/');
        if (slash == std::string::npos || slash + 1 == path.size()) return std::nullopt;
        const Listing* const listing = find_listing(parent_of(path));
        if (listing == nullptr) return std::nullopt;
        const auto file = listing->files.find(path.substr(slash + 1));
        if (file == listing->files.end()) return std::optional<FileInfo>();
        if (!file->second) return std::nullopt;
        return file->second;
    }
    /// Drops a file or directory that this store has changed.
    void forget(const std::string& changed) {
        const std::string path = bare(changed);
        const std::size_t slash = path.rfind('/');
        const MutexLock lock(mutex_);
        std::erase_if(directories_, [inside = path + "/", &path](const auto& each) {
            return each.first == path || each.first.starts_with(inside);
        });
        if (slash == std::string::npos) return;
        const auto directory = directories_.find(parent_of(path));
        if (directory == directories_.end()) return;
        directory->second.info.reset();
        if (!directory->second.listing) return;
        directory->second.listing->entries.reset();
        directory->second.listing->files[path.substr(slash + 1)] = std::nullopt;
    }
    void forget_all() {
        const MutexLock lock(mutex_);
        directories_.clear();
    }

private:
    /// "dir/" and "dir" are one.
    static std::string bare(std::string path) {
        while (path.size() > 1 && path.back() == '/') path.pop_back();
        return path;
    }

    static constexpr Duration kValidFor = seconds(10);

    struct Listing {
        Instant listed_at;
        std::optional<Entries> entries;  // none: this store has changed the directory since
        Files files;
    };
    struct Directory {
        std::optional<Listing> listing;
        Instant seen_at;
        std::optional<FileInfo> info;
    };

    static bool is_fresh(Instant at) { return clock_now() - at <= kValidFor; }

    /// Null: not listed, or too long ago.
    const Listing* find_listing(const std::string& directory) REQUIRES(mutex_) {
        const auto known = directories_.find(directory);
        if (known == directories_.end() || !known->second.listing) return nullptr;
        if (is_fresh(known->second.listing->listed_at)) return &*known->second.listing;
        known->second.listing.reset();
        return nullptr;
    }

    Mutex mutex_;
    std::map<std::string, Directory> directories_ GUARDED_BY(mutex_);  // by path
};

}  // namespace streamsim::storage
