#include "media/write/media_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/document/json.h"
#include "base/path.h"
#include "base/utf8.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/document_file.h"
#include "media/own_files/own_names.h"
#include "media/write/media_lease.h"
#include "media/write/media_set_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kLockSuffix = ".lock";
constexpr std::string_view kLockFileBegins = "streamsim lock file";
constexpr std::size_t kCommandShownMax = 300;

std::string lock_text(const Json& document, const char* key) {
    const auto member = document.find(key);
    return member != document.end() && member->is_string() ? printable(member->get<std::string>()) : "";
}

/// "streamsim prepare /mnt/media" (process 4711 on host edit3, since 2026-11-22T15:04:05Z)
std::string show(const std::string& note) {
    const LockOwner owner = LockOwner::parse(note);
    if (owner.pid == 0) return "another streamsim, which may not write its name there,";
    return fmt::format("\"{}\" (process {} on host {}, since {})", owner.command, owner.pid, owner.host,
                       owner.since);
}

std::string held_by(const MediaLockRequest& request, const std::vector<std::string>& notes) {
    const bool load = request.name != kSetLock;
    std::string holders;
    for (const std::string& note : notes) {
        const std::string shown = show(note);
        if (holders.find(shown) == std::string::npos) holders += (holders.empty() ? "" : ", ") + shown;
    }
    if (holders.empty()) holders = show("");
    return fmt::format(
        "{}{}: {} {} it", request.root,
        load ? fmt::format("/load, {}", request.name.substr(std::string_view(kLoadLockPrefix).size())) : "",
        holders, notes.size() > 1 ? "use" : "uses");
}

/// The lock of a set that nobody may write to.
class NoLock final : public FileLock {
public:
    Result<bool> change(LockMode mode) override { return mode == LockMode::shared; }
};

/// The lock of the kernel, which is seen on this computer, and a lease, which is seen by all.
class LockAndLease final : public FileLock {
public:
    LockAndLease(std::unique_ptr<FileLock> lock, std::unique_ptr<FileLock> lease, LockMode mode)
        : lock_(std::move(lock)), lease_(std::move(lease)), mode_(mode) {}

    // A lease is never exclusive without the lock: others that have the lock would take it for abandoned.
    Result<bool> change(LockMode mode) override {
        const bool shared = mode == LockMode::shared;
        FileLock& first = shared ? *lease_ : *lock_;
        FileLock& second = shared ? *lock_ : *lease_;
        auto changed = first.change(mode);
        if (!changed || !*changed) return changed;
        changed = second.change(mode);
        if (changed && *changed) {
            mode_ = mode;
        } else if (!shared) {
            (void)lock_->change(mode_);
        }
        return changed;
    }
    bool lost() const override { return lease_->lost(); }

private:
    std::unique_ptr<FileLock> lock_;
    std::unique_ptr<FileLock> lease_;  // released first
    LockMode mode_;
};

/// `lock`: of the kernel, null where there is none.
Result<MediaLockAttempt> try_set_lease(const std::shared_ptr<ByteStore>& store,
                                       const MediaLockRequest& request,
                                       std::unique_ptr<FileLock> lock) {
    const bool shared = request.mode == LockMode::shared;
    const bool local = lock != nullptr;
    auto attempt = try_lease(store, request, local);
    if (!attempt && shared)
        attempt = try_lease(store, request, local);  // a connection may have failed for a moment
    MediaLockAttempt out;
    if (!attempt) {
        if (!shared) return attempt.error();
        out.lock = std::move(lock);
        if (out.lock != nullptr) return out;
        // A user without write permission can still play the media set.
        out.lock = std::make_unique<NoLock>();
        out.notices.push_back(fmt::format(
            "{}: no lease can be written, so another process may change media that this one uses: {}",
            request.root, attempt.error().problems.front()));
        return out;
    }
    for (const std::string& note : attempt->taken_over) {
        out.notices.push_back(
            fmt::format("{}: took over the lease of {}: it has ended, or has not renewed its "
                        "lease for more than {} s",
                        request.root, show(note), kLeaseAgeMaxSeconds));
    }
    out.lock = std::move(attempt->lease);
    if (out.lock == nullptr) {
        out.held_by = held_by(request, attempt->holders);
    } else if (lock != nullptr) {
        out.lock = std::make_unique<LockAndLease>(std::move(lock), std::move(out.lock), request.mode);
    }
    return out;
}

/// The store confined to the target of a set; keeps a reference to `store`.
Result<std::shared_ptr<ByteStore>> store_beneath(const std::shared_ptr<ByteStore>& store,
                                                 const std::string& target) {
    auto confined = store->beneath(target);
    if (!confined) return confined.error();
    return std::shared_ptr<ByteStore>(confined->release(), [store](ByteStore* below) { delete below; });
}

/// True for the name of a lock file that an interrupted removal has left.
bool is_removed_lock_name(std::string_view name) {
    return take_removing(name) && is_lock_name(name);
}

/// True when an interrupted removal has left this file.
Result<bool> is_removed_lock(ByteStore& store, const std::string& path) {
    const auto info = store.stat(path);
    if (!info) return info.error();
    return *info && is_half_removed(base_name(path), **info);
}

bool is_lease_of_set(std::string_view name) {
    return is_lease_name(name) && name.starts_with(kSetLock);
}

/// Removes the marker or a lock file of a set without media. False: another file has the name, and stays.
Result<bool> remove_nothing(ByteStore& store, const std::string& path) {
    const std::string name = base_name(path);
    if (is_removed_lock_name(name)) {
        auto left = is_removed_lock(store, path);
        if (!left || !*left) return left;
        if (auto removed = store.remove(path); !removed) return removed.error();
        return true;
    }
    const bool marker = name == kMarkerName;
    const auto is_ours = [&](const std::string& at) {
        return marker ? is_document(store, at) : is_lock_file(store, at);
    };
    const auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info) return true;
    auto ours = is_ours(path);
    if (!ours || !*ours) return ours;
    const bool by_name = (*info)->bytes == 0 || is_lease_name(name);  // nothing else tells its purpose
    return remove_seen(store, path, **info, by_name ? IsOurs() : is_ours);
}

/// Removes the leases of the set that were there while its lock was held alone: the lock could not take its own
/// with it. Then the directory goes, unless somebody uses it.
Result<void> remove_own_leases(ByteStore& store,
                               const std::string& root,
                               const std::vector<DirectoryEntry>& held) {
    for (const DirectoryEntry& entry : held) {
        if (!is_lease_of_set(entry.name)) continue;
        const std::string path = join_path(root, entry.name);
        const auto info = store.stat(path);
        if (!info) return info.error();
        if (!*info) continue;
        if (auto removed = store.remove(path); !removed) return removed;
        (void)store.remove_directory(root);
    }
    return {};
}

}  // namespace

Result<bool> is_lock_file(ByteStore& store, const std::string& path) {
    const std::string file = base_name(path);
    if (is_lease_name(file)) return true;
    auto source = store.open(path);
    if (!source) return source.error();
    std::string text(kLockFileBegins.size(), '\0');
    const auto got = (*source)->read_at(0, std::as_writable_bytes(std::span(text)));
    if (!got) return got.error();
    std::string_view name = file;
    if (*got == 0) return take_partial(name) && is_lock_name(name);  // its creator was killed
    return *got == text.size() && text == kLockFileBegins;
}

std::string LockOwner::to_note() const {
    std::string shown = printable(command);
    for (std::size_t most = kCommandShownMax;; most /= 2) {
        if (shown.size() > most) shown = printable(shown.substr(0, most)) + "...";
        const OrderedJson note = {{"host", host},   {"pid", pid},         {"command", shown},
                                  {"since", since}, {"machine", machine}, {"started", started}};
        std::string text = json_text(note);
        if (text.size() <= kLockNoteBytesMax) return text;
        if (most == 0) return "{}";
    }
}

LockOwner LockOwner::parse(const std::string& note) {
    const auto document = parse_json(note, "lock");
    if (!document || !document->is_object()) return {};
    const auto pid = document->find("pid");
    if (pid == document->end() || !pid->is_number_integer()) return {};
    return {.host = lock_text(*document, "host"),
            .pid = pid->get<std::int64_t>(),
            .machine = lock_text(*document, "machine"),
            .started = lock_text(*document, "started"),
            .command = lock_text(*document, "command"),
            .since = lock_text(*document, "since")};
}

bool is_lock_name(std::string_view name) {
    if (is_lease_name(name)) return true;
    (void)take_partial(name);
    const bool known = name.starts_with(kSetLock) || name.starts_with(kLoadLockPrefix);
    return known && name.ends_with(kLockSuffix);
}

Result<bool> media_set_is_there(ByteStore& store, const std::string& root) {
    const auto marker = read_marker(store, root);
    if (!marker) return marker.error();
    return marker->has_value();
}

bool media_set_is_begun(ByteStore& store, const std::string& root) {
    const auto entries = store.list(root);
    if (!entries || entries->empty()) return false;
    return std::all_of(entries->begin(), entries->end(), [&](const DirectoryEntry& entry) {
        const std::string path = join_path(root, entry.name);
        if (entry.directory || entry.symbolic_link) return false;
        const auto ours = is_lock_name(entry.name)           ? is_lock_file(store, path)
                          : is_removed_lock_name(entry.name) ? is_removed_lock(store, path)
                                                             : is_unfinished(store, path, kMarkerName);
        return ours && *ours;
    });
}

Result<MediaLockAttempt> try_media_lock(const std::shared_ptr<ByteStore>& store,
                                        const MediaLockRequest& request) {
    const std::string target = parent_of(request.root);
    const auto info = store->stat(target);
    if (!info) return info.error();
    if (!*info || !(*info)->directory) return environment_error(fmt::format("{}: is no directory", target));
    // Errors: when the directory is somebody else's, into which nothing is written.
    const auto confined = store_beneath(store, target);
    if (!confined) return confined.error();
    if (auto marker = read_marker(**confined, request.root); !marker) return marker.error();
    if (auto made = (*confined)->make_directories(request.root); !made) return made.error();
    const std::string path = join_path(request.root, request.name + std::string(kLockSuffix));
    auto attempt = store->try_lock(path, request.mode, request.owner.to_note());
    if (!attempt) return attempt.error();
    MediaLockAttempt out;
    if (attempt->outcome == LockAttempt::Outcome::refused) {
        out.held_by = held_by(request, attempt->notes);
        return out;
    }
    return try_set_lease(*confined, request, std::move(attempt->lock));
}

Result<void> release_media_lock(ByteStore& whole, const std::string& root, std::unique_ptr<FileLock> lock) {
    if (lock == nullptr) return {};
    const std::string target = parent_of(root);
    const auto confined = whole.beneath(target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    const auto entries = store.list(root);
    if (!entries) return entries.error();
    const auto is_nothing = [](const DirectoryEntry& entry) {
        const bool is_lock =
            !entry.symbolic_link && (is_lock_name(entry.name) || is_removed_lock_name(entry.name));
        return !entry.directory && (is_lock || entry.name == kMarkerName);
    };
    if (!std::all_of(entries->begin(), entries->end(), is_nothing)) return {};
    const auto alone = lock->change(LockMode::exclusive);
    if (!alone) return alone.error();
    if (!*alone) return {};
    // Listed again, because others may have written meanwhile.
    const auto left = store.list(root);
    if (!left) return left.error();
    if (!std::all_of(left->begin(), left->end(), is_nothing)) return {};
    bool all_gone = true;
    for (const DirectoryEntry& entry : *left) {
        // This lock's own lease goes with the lock; who holds that of a working set would hold the set, too.
        if (is_lease_of_set(entry.name)) continue;
        const auto removed = remove_nothing(store, join_path(root, entry.name));
        if (!removed) return removed.error();
        all_gone = all_gone && *removed;
    }
    lock.reset();
    if (!all_gone || store.remove_directory(root)) return {};
    return remove_own_leases(store, root, *left);  // or somebody has begun another set in it
}

}  // namespace streamsim::media
