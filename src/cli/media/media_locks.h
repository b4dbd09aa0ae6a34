// The locks that a command holds on a media set until it ends.
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
    /// as try_media_lock. To become exclusive all locks are released first, so that two that wait never wait
    /// for each other.
    Result<void> hold_set(const std::shared_ptr<ByteStore>& store, const std::string& root, LockMode mode);
    /// The locks of working sets, in this mode or a stronger one. REQUIRES: the set is held.
    Result<void> hold_load(const std::vector<std::string>& names, LockMode mode);
    /// From exclusive to shared, without a gap. Errors: environment, also when the lock is lost.
    Result<void> share_set();
    void share_load(const std::vector<std::string>& names);
    /// Errors: environment where locks or an empty media set stay; all locks are released.
    Result<void> release();
    /// Releases all, so that no file of the target is open, until resume() takes them again in their modes. The
    /// media set stays as it is; others may use it meanwhile.
    void suspend();
    /// Errors: as hold_set; environment, where the media set is not there any more.
    Result<void> resume();
    /// Releases without looking at what is left: for a process that ends while its storage may not answer.
    void leave() { held_.clear(); }

    bool set_is_held() const { return held_.contains(media::kSetLock); }
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
    Result<void> hold(const std::string& name, LockMode mode);

    CommandContext& context_;
    std::shared_ptr<ByteStore> store_;
    std::string root_;
    bool made_set_ = false;  // the set may be one that nothing was written into
    std::map<std::string, Held> held_;
    std::map<std::string, LockMode> suspended_;
    bool set_was_there_ = false;  // when suspended
    bool left_behind_ = false;
};

}  // namespace streamsim::cli
