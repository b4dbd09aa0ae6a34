// The locks of a media set, TARGET/streamsim-media: shared by all that play it, record into it or work on its
// load, and exclusive for what changes the media of others: prepare and clean.
//
// On file systems of this computer alone it is a lock on the file streamsim-media.lock in the set, which the
// kernel releases when its holder ends, however it ends, and a lease file (media_lease.h) by which other
// computers see it that use the set over a network. Elsewhere it is the lease file alone. The working sets of
// meters have locks of their own beside it, as two runs of one workload write the same files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "streamsim/byte_store.h"
#include "streamsim/file_lock.h"

namespace streamsim::media {

/// Prefixes of the names of the set's lock file and of its lease files.
inline constexpr const char* kSetLock = "streamsim-media";
/// Prefix for a working set, followed by the name of the set.
inline constexpr const char* kLoadLockPrefix = "load-";

inline constexpr Duration kLeaseRenewal = seconds(10);
/// A lease that is older than this is taken over: its holder is gone, or cannot reach the storage.
inline constexpr std::int64_t kLeaseAgeMaxSeconds = 60;

struct LockOwner {
    std::string host;
    std::int64_t pid = 0;
    std::string machine;  // with the start of the process: the same nowhere else; empty: not known
    std::string started;
    std::string command;  // command line of the owner
    std::string since;    // when it asked for the lock, RFC 3339

    /// Converts to one line of at most kLockNoteBytesMax bytes, and back. Text that is no such line gives empty
    /// fields.
    std::string to_note() const;
    static LockOwner parse(const std::string& note);
};

struct MediaLockRequest {
    std::string root;             // TARGET/streamsim-media
    std::string name = kSetLock;  // name of the lock
    LockMode mode = LockMode::shared;
    LockOwner owner;
    /// True when the owner is a process of this computer that has ended. May be null.
    std::function<bool(const LockOwner&)> is_gone = {};
    Duration lease_renewal = kLeaseRenewal;
};

struct MediaLockAttempt {
    std::unique_ptr<FileLock> lock;    // null: refused
    std::string held_by;               // refused: a sentence that names the holders
    std::vector<std::string> notices;  // sentences for the user
};

/// One attempt. Makes the directory of the set where it is not there. Blocks as the store does; waits for no
/// holder. Errors: bad input when the directory is not a media set; environment from the store.
Result<MediaLockAttempt> try_media_lock(const std::shared_ptr<ByteStore>& store,
                                        const MediaLockRequest& request);

/// True when a file of this name in the directory of a set belongs to the locks of the set.
bool is_lock_name(std::string_view name);

/// True when the content of such a file is a lock's too: another file may have the name.
Result<bool> is_lock_file(ByteStore& store, const std::string& path);

/// True when the directory of a set exists and holds anything but locks. Errors: as read_marker.
Result<bool> media_set_is_there(ByteStore& store, const std::string& root);
/// True when the directory holds only lock files and an unfinished marker, as a command leaves them that is
/// killed before the set has its marker. False when the directory is empty or cannot be listed.
bool media_set_is_begun(ByteStore& store, const std::string& root);

/// Releases a lock of the set. When nobody else holds a lock and the set has no media, removes the locks, the
/// marker and the directory of the set too. Blocks. Errors: environment where these stay; the lock is released
/// all the same. A lease that cannot be removed grows old where others or media stay.
Result<void> release_media_lock(ByteStore& store, const std::string& root, std::unique_ptr<FileLock> lock);

}  // namespace streamsim::media
