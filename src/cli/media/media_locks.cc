#include "cli/media/media_locks.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <utility>

#include "base/prng.h"
#include "base/system/mutex.h"
#include "cli/options/options.h"
#include "run/process/control.h"
#include "run/process/this_process.h"

namespace streamsim::cli {
namespace {

using std::chrono::milliseconds;

/// Another process holds a lock for a moment while it looks whether the lock is free: this many attempts are
/// made without --wait.
constexpr int kAttemptsWithoutWait = 4;
constexpr std::int64_t kPauseMs = 80, kPauseMsMax = 1000;
constexpr std::int64_t kStillWaitingNs = 10'000'000'000;

/// The state that a thread which waits for a lock shares with the main thread.
struct Waiting {
    std::shared_ptr<ByteStore> store;
    media::MediaLockRequest request;
    bool wait = false;

    Mutex mutex;
    std::condition_variable changed;
    bool cancel GUARDED_BY(mutex) = false;
    std::string held_by GUARDED_BY(mutex);  // as far as it was waited for
    std::optional<Result<media::MediaLockAttempt>> result;

    void run();
    bool pause(int attempt);
};

/// False: cancelled.
bool Waiting::pause(int attempt) {
    const std::int64_t most = std::min(kPauseMs * (attempt + 1), kPauseMsMax);
    const auto random = static_cast<std::int64_t>(entropy64() % static_cast<std::uint64_t>(most));
    MutexLock lock(mutex);
    while (!cancel && lock.wait_for(changed, milliseconds(most / 2 + random))) {
    }
    return !cancel;
}

void Waiting::run() {
    for (int attempt = 0;; ++attempt) {
        auto tried = media::try_media_lock(store, request);
        if (!tried || tried->lock != nullptr) {
            result.emplace(std::move(tried));
            return;
        }
        if (!wait && attempt + 1 >= kAttemptsWithoutWait) {
            result.emplace(
                environment_error(fmt::format("{}; wait for its end, or give --wait", tried->held_by)));
            return;
        }
        if (wait) {
            const MutexLock lock(mutex);
            held_by = tried->held_by;
        }
        if (!pause(attempt)) {
            result.emplace(interrupted_error());
            return;
        }
    }
}

}  // namespace

MediaLocks::~MediaLocks() {
    (void)release();
}

MediaLocks::Held* MediaLocks::find(const std::string& root, const std::string& name) {
    const auto set = sets_.find(root);
    if (set == sets_.end()) return nullptr;
    const auto held = set->second.held.find(name);
    return held == set->second.held.end() ? nullptr : &held->second;
}

bool MediaLocks::set_is_held(const std::string& root) const {
    const auto set = sets_.find(root);
    return set != sets_.end() && set->second.held.contains(media::kSetLock);
}

Result<void> MediaLocks::release(const std::string& root, MediaSet& set) {
    auto lock = set.held.extract(media::kSetLock);
    set.held.clear();
    if (!lock) return {};
    // An exclusive holder may have removed all files of the set, and one that failed may have written none:
    // then the directory goes, too.
    if (set.made || lock.mapped().mode == LockMode::exclusive)
        return media::release_media_lock(*store_, root, std::move(lock.mapped().lock));
    return {};
}

Result<void> MediaLocks::release() {
    Result<void> all;
    for (auto& [root, set] : sets_) {
        auto released = release(root, set);
        if (all && !released) all = std::move(released);
    }
    return all;
}

void MediaLocks::suspend() {
    for (auto& [root, set] : sets_) {
        for (const auto& [name, held] : set.held) set.suspended[name] = held.mode;
        if (set.suspended.empty()) continue;
        const auto there = media::media_set_is_there(*store_, root);
        set.was_there = there && *there;
        set.held.clear();
    }
}

Result<void> MediaLocks::resume() {
    for (auto& [root, set] : sets_) {
        if (auto resumed = resume(root, set); !resumed) return resumed;
    }
    return {};
}

Result<void> MediaLocks::resume(const std::string& root, MediaSet& set) {
    const std::map<std::string, LockMode> names = std::exchange(set.suspended, {});
    if (names.empty()) return {};
    // Locks are files of the set: on storage that is not mounted they would make a set below its mount point.
    const auto there = media::media_set_is_there(*store_, root);
    if (!there) return there.error();
    if (!*there && set.was_there)
        return environment_error(
            fmt::format("{}: the media set is not there any more: is the storage mounted again?", root));
    const auto lock = names.find(media::kSetLock);
    if (lock != names.end()) {
        if (auto held = hold(root, lock->first, lock->second); !held) return held;
    }
    for (const auto& [name, mode] : names) {
        if (set.held.contains(name)) continue;
        if (auto held = hold(root, name, mode); !held) return held;
    }
    return {};
}

bool MediaLocks::lost() const {
    for (const auto& [root, set] : sets_) {
        for (const auto& [name, held] : set.held) {
            if (held.lock->lost()) return true;
        }
    }
    return false;
}

Error MediaLocks::lost_error(const char* done) {
    return environment_error(
        fmt::format("another process has taken over the lock of the media set, as this one did not renew it in "
                    "time: nothing more is {}",
                    done));
}

Result<void> MediaLocks::hold(const std::string& root, const std::string& name, LockMode mode) {
    const auto shared = std::make_shared<Waiting>();
    shared->store = store_;
    shared->wait = context_.options.wait;
    shared->request = {root, name, mode, run::this_lock_owner(context_.options.command_line),
                       run::lock_owner_is_gone};
    const std::int64_t begin_ns = context_.control.now_ns();
    std::string said;
    std::int64_t said_ns = begin_ns;
    run::Control::Work work;
    work.run = [shared] { shared->run(); };
    work.on_interrupt = [shared] {
        const MutexLock lock(shared->mutex);
        shared->cancel = true;
        shared->changed.notify_all();
    };
    work.timeout = seconds(1);
    work.on_tick = [&] {
        if (context_.options.quiet) return;
        MutexLock lock(shared->mutex);
        const std::string held_by = shared->held_by;
        lock.unlock();
        const std::int64_t now_ns = context_.control.now_ns();
        if (held_by.empty() || (held_by == said && now_ns - said_ns < kStillWaitingNs)) return;
        context_.log.info(held_by + ": " +
                          (said.empty()
                               ? "waiting for its end"
                               : fmt::format("waiting for {} s so far", (now_ns - begin_ns) / 1'000'000'000)));
        said = held_by;
        said_ns = now_ns;
    };
    if (!context_.control.run(std::move(work))) {
        left_behind_ = true;
        return interrupted_error();
    }
    if (!*shared->result) return shared->result->error();
    if (context_.control.interrupted()) return interrupted_error();
    media::MediaLockAttempt& attempt = **shared->result;
    for (const std::string& notice : attempt.notices) {
        if (!context_.options.quiet) context_.log.warn(notice);
    }
    sets_[root].held[name] = {std::move(attempt.lock), mode};
    return {};
}

Result<void> MediaLocks::hold_set(const std::shared_ptr<ByteStore>& store,
                                  const std::string& root,
                                  LockMode mode) {
    const Held* const set = find(root, media::kSetLock);
    if (set != nullptr && (mode == LockMode::shared || set->mode == LockMode::exclusive)) return {};
    if (mode == LockMode::exclusive) (void)release();
    store_ = store;
    const auto there = media::media_set_is_there(*store, root);
    sets_[root].made = there && !*there;
    return hold(root, media::kSetLock, mode);
}

Result<void> MediaLocks::hold_load(const std::string& root,
                                   const std::vector<std::string>& names,
                                   LockMode mode) {
    for (const std::string& name : names) {
        const Held* const held = find(root, media::kLoadLockPrefix + name);
        if (held != nullptr && (mode == LockMode::shared || held->mode == LockMode::exclusive)) continue;
        sets_[root].held.erase(media::kLoadLockPrefix + name);
        if (auto done = hold(root, media::kLoadLockPrefix + name, mode); !done) return done;
    }
    return {};
}

Result<void> MediaLocks::share_set(const std::string& root) {
    Held* const set = find(root, media::kSetLock);
    if (set == nullptr || set->mode == LockMode::shared) return {};
    const auto changed = set->lock->change(LockMode::shared);
    if (!changed && changed.error().no_room) return {};
    if (!changed) return changed.error();
    if (!*changed) return lost_error("written");
    set->mode = LockMode::shared;
    return {};
}

void MediaLocks::share_load(const std::string& root, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        Held* const held = find(root, media::kLoadLockPrefix + name);
        if (held == nullptr || held->mode == LockMode::shared) continue;
        // A lock that cannot be changed stays exclusive, which keeps out more processes than it has to.
        const auto changed = held->lock->change(LockMode::shared);
        if (changed && *changed) held->mode = LockMode::shared;
    }
}

}  // namespace streamsim::cli
