// The locks that a command holds on media sets until it ends.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/output/cli_context.h"
#include "media/write/media_lock.h"
#include "streamsim/byte_store.h"

namespace streamsim::cli {

class MediaLocks {
public:
    explicit MediaLocks(CommandContext& context) : context_(context) {}
    /// Releases all, unless they were left.
    ~MediaLocks();
    MediaLocks(const MediaLocks&) = delete;
    MediaLocks& operator=(const MediaLocks&) = delete;

    /// Holds the lock of the set at `root` in this mode, or a stronger one; makes the directory where it is not
    /// there. Waits with --wait, and says for whom. Errors: environment, which names the holders; interrupted;
    /// as try_media_lock. To become exclusive all locks, of other sets too, are released first, so that two
    /// that wait never wait for each other. REQUIRES: one store for all sets.
    Result<void> hold_set(const std::shared_ptr<ByteStore>& store, const std::string& root, LockMode mode);
    /// The locks of working sets, in this mode or a stronger one. REQUIRES: the set is held.
    Result<void> hold_load(const std::string& root, const std::vector<std::string>& names, LockMode mode);
    /// From exclusive to shared, without a gap. Stays exclusive, which keeps out more processes than it has to,
    /// where the storage has no room for that. Errors: environment, also when the lock is lost.
    Result<void> share_set(const std::string& root);
    void share_load(const std::string& root, const std::vector<std::string>& names);
    /// Errors: environment where locks or an empty media set stay; all locks are released.
    Result<void> release();
    /// Releases all, so that no file of the target is open, until resume() takes them again in their modes. The
    /// media sets stay as they are; others may use them meanwhile.
    void suspend();
    /// Errors: as hold_set; environment, where a media set is not there any more.
    Result<void> resume();
    /// Releases without looking at what is left: for a process that ends while its storage may not answer.
    void leave() { sets_.clear(); }

    bool set_is_held(const std::string& root) const;
    /// A lease was taken over by another process, which may have changed the media since.
    bool lost() const;
    /// `done`: "written", of what stops because of that.
    static Error lost_error(const char* done);
    /// A thread is still in a call that does not return: the process has to end by _exit.
    bool left_behind() const { return left_behind_; }

private:
    struct Held {
        std::unique_ptr<FileLock> lock;
        LockMode mode = LockMode::shared;
    };
    struct MediaSet {
        std::map<std::string, Held> held;  // by the names of the locks
        std::map<std::string, LockMode> suspended;
        bool was_there = false;  // when suspended
        bool made = false;       // nothing may have been written into it
    };
    Result<void> hold(const std::string& root, const std::string& name, LockMode mode);
    /// Null: the lock is not held.
    Held* find(const std::string& root, const std::string& name);
    Result<void> release(const std::string& root, MediaSet& set);
    Result<void> resume(const std::string& root, MediaSet& set);

    CommandContext& context_;
    std::shared_ptr<ByteStore> store_;
    std::map<std::string, MediaSet> sets_;  // by their roots
    bool left_behind_ = false;
};

}  // namespace streamsim::cli
