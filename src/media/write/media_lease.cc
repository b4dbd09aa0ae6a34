#include "media/write/media_lease.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "base/ascii.h"
#include "base/path.h"
#include "base/prng.h"
#include "base/system/mutex.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kLeaseSuffix = ".lease";
constexpr std::string_view kShared = "shared", kExclusive = "exclusive";
constexpr std::string_view kLocal = "local";  // before these: beside a lock of the kernel
constexpr int kListings = 5;  // a lease renewed between listing and reading is found by the next listing
constexpr auto kRemovalTimeout = std::chrono::seconds(2);

struct LeaseName {
    std::string lock;  // "streamsim-media"
    LockMode mode = LockMode::shared;
    bool local = false;  // its holder has a lock of the kernel, too
    std::string run;
    std::uint64_t number = 0;

    std::string text() const {
        return fmt::format("{}.{}{}-{}-{:08}{}", lock, local ? kLocal : "",
                           mode == LockMode::shared ? kShared : kExclusive, run, number, kLeaseSuffix);
    }
};

std::optional<LeaseName> lease_name_in(std::string_view name) {
    const std::string_view whole =
        name.substr(0, std::max(name.size(), kLeaseSuffix.size()) - kLeaseSuffix.size());
    const std::size_t dot = whole.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return std::nullopt;
    const auto parts = split(whole.substr(dot + 1), '-');  // mode, run, number
    if (parts.size() != 3 || !is_id(parts[1])) return std::nullopt;
    LeaseName out{.lock = std::string(whole.substr(0, dot)), .run = std::string(parts[1])};
    out.local = parts[0].starts_with(kLocal);
    out.mode = parts[0].ends_with(kShared) ? LockMode::shared : LockMode::exclusive;
    out.number = whole_number<std::uint64_t>(parts[2]).value_or(0);
    return out.text() == name ? std::optional(out) : std::nullopt;
}

/// State that a holder shares with the thread that renews its lease.
struct Held {
    std::shared_ptr<ByteStore> store;
    MediaLockRequest request;
    std::string note;  // the request's owner
    Mutex calls;       // serialises changes of the files
    // Guarded by `calls` once the thread runs.
    LeaseName name;                 // name of the current file
    bool there = false;             // so is the file; beside a lock of the kernel there may be no room for one
    std::uint64_t last_number = 1;  // each number is used once: a failed call may have created its file
    std::vector<LeaseName> left;    // older names whose files may still be there

    Mutex mutex;
    std::condition_variable changed;
    bool stop GUARDED_BY(mutex) = false;
    bool removed GUARDED_BY(mutex) = false;
    bool lost GUARDED_BY(mutex) = false;

    std::string path(const LeaseName& of) const { return join_path(request.root, of.text()); }
    LeaseName next_name(LockMode mode) {
        LeaseName next = name;
        next.mode = mode;
        next.number = ++last_number;
        return next;
    }
    void lose() {
        const MutexLock lock(mutex);
        lost = true;
    }
    void remove_left() {
        for (const LeaseName& each : left) (void)store->remove(path(each));
        left.clear();
    }
};

/// On a full storage the text is missing, so that clean can make room. Errors: the lease is not there, as far
/// as the storage lets it be removed; Error::no_room where not even an empty file can be made.
Result<void> write_lease(const Held& held, const LeaseName& name) {
    const std::string path = held.path(name);
    const auto write = [&]() -> Result<void> {
        const auto sink = held.store->create(path);
        if (!sink) return sink.error();
        const std::string text = held.note + "\n";
        auto done = (*sink)->write_at(0, std::as_bytes(std::span(text)));
        // A local disk that is measured does not have to wait for a lease: it is seen in the page cache.
        if (done && !name.local) done = (*sink)->close();
        if (!done && done.error().no_room) return {};  // the name and the time of the file make it a lease
        return done;
    };
    auto written = write();
    if (!written) (void)held.store->remove(path);  // a connection that fails may have created it
    return written;
}

std::string read_note(ByteStore& store, const std::string& path) {
    auto source = store.open(path);
    if (!source) return {};
    std::string text(kLockNoteBytesMax + 1, '\0');
    const auto got = (*source)->read_at(0, std::as_writable_bytes(std::span(text)));
    if (!got) return {};
    text.resize(*got);
    return text.substr(0, text.find('\n'));
}

/// The leases of one holder: the newest, and those before it that it could not remove.
struct HolderLeases {
    LeaseName newest;
    std::vector<LeaseName> older;

    void add(LeaseName name) {
        const bool later = name.number > newest.number;
        const bool stronger = name.number == newest.number && name.mode == LockMode::exclusive;
        if (later || stronger) std::swap(name, newest);
        older.push_back(std::move(name));
    }
};

/// By the run of the holder.
Result<std::map<std::string, HolderLeases>> list_leases(const Held& held) {
    const auto entries = held.store->list(held.request.root);
    if (!entries) return entries.error();
    std::map<std::string, HolderLeases> leases;
    for (const DirectoryEntry& entry : *entries) {
        const auto name = lease_name_in(entry.name);
        if (!name || name->lock != held.request.name || entry.directory || entry.symbolic_link) continue;
        const auto [at, is_new] = leases.emplace(name->run, HolderLeases{*name, {}});
        if (!is_new) at->second.add(*name);
    }
    return leases;
}

/// The leases that conflict with `own`, and those that turned out to be abandoned.
struct Others {
    std::vector<std::string> holders, taken_over;  // their notes
    bool own_is_there = false;
    bool again = false;  // a lease changed meanwhile
};

Result<Others> read_others(const Held& held, const LeaseName& own) {
    Others others;
    const auto leases = list_leases(held);
    if (!leases) return leases.error();
    const auto now = held.store->stat(held.path(own));
    if (!now) return now.error();
    others.own_is_there = now->has_value();
    for (const auto& [run, all] : *leases) {
        const LeaseName& name = all.newest;
        if (run == own.run || (own.mode == LockMode::shared && name.mode == LockMode::shared)) continue;
        const std::string path = held.path(name);
        const auto info = held.store->stat(path);
        if (!info) return info.error();
        if (!*info) {
            others.again = true;
            continue;
        }
        const std::string note = read_note(*held.store, path);
        if (own.local && name.local) {  // a holder would keep this one from the lock
            for (const LeaseName& before : all.older) (void)held.store->remove(held.path(before));
            (void)held.store->remove(path);
            continue;
        }
        const bool old = *now && (**now).modified_s - (**info).modified_s > kLeaseAgeMaxSeconds;
        const bool gone = !note.empty() && held.request.is_gone && held.request.is_gone(LockOwner::parse(note));
        if (!old && !gone) {
            others.holders.push_back(note);
            continue;
        }
        others.taken_over.push_back(note);
        others.again = true;  // its holder may have renewed it just before
        // A lease that vanishes at this moment was removed by another process that found it too old.
        if (auto removed = remove_seen(*held.store, path, **info); !removed) {
            const auto left = held.store->stat(path);
            if (!left || *left) return removed.error();
        }
        for (const LeaseName& before : all.older) (void)held.store->remove(held.path(before));
    }
    return others;
}

Result<Others> settle(const Held& held, const LeaseName& own) {
    Others all;
    for (int i = 0; i < kListings; ++i) {
        auto others = read_others(held, own);
        if (!others) return others.error();
        all.taken_over.insert(all.taken_over.end(), others->taken_over.begin(), others->taken_over.end());
        all.holders = std::move(others->holders);
        all.own_is_there = others->own_is_there;
        if (!others->again || !all.holders.empty()) break;
        if (i + 1 == kListings) all.holders.push_back({});
    }
    return all;
}

/// The conflicting holders, where another process has removed the lease that `next` replaces.
Result<std::vector<std::string>> replace_lease(Held& held, const LeaseName& next) REQUIRES(held.calls) {
    held.remove_left();
    if (held.store->remove(held.path(held.name))) return std::vector<std::string>();
    const auto old = held.store->stat(held.path(held.name));
    if (!old) return old.error();
    if (*old) {
        held.left.push_back(held.name);
        return std::vector<std::string>();
    }
    auto others = settle(held, next);
    if (!others) return others.error();
    return std::move(others->holders);
}

void renew(Held& held) REQUIRES(held.calls) {
    const auto leases = list_leases(held);
    if (!leases) return;  // the storage does not answer: the next renewal tries again
    if (held.there && !leases->contains(held.name.run)) return held.lose();
    const LeaseName next = held.next_name(held.name.mode);
    const auto written = write_lease(held, next);
    const auto holders = written ? replace_lease(held, next) : written.error();
    if (!holders) {
        held.left.push_back(next);
        return;
    }
    if (!holders->empty()) {
        (void)held.store->remove(held.path(next));
        return held.lose();
    }
    held.name = next;
    held.there = true;
}

void keep_renewed(const std::shared_ptr<Held>& held) {
    const auto pause = std::chrono::nanoseconds(held->request.lease_renewal.ns);
    for (;;) {
        {
            MutexLock lock(held->mutex);
            while (!held->stop && lock.wait_for(held->changed, pause)) {
            }
            if (held->stop || held->lost) break;
        }
        const MutexLock calls(held->calls);
        renew(*held);
    }
    MutexLock lock(held->mutex);
    while (!held->stop) lock.wait(held->changed);
    const bool remove = !held->lost;
    lock.unlock();
    if (remove) {
        const MutexLock calls(held->calls);
        (void)held->store->remove(held->path(held->name));
        held->remove_left();
    }
    lock.lock();
    held->removed = true;
    held->changed.notify_all();
}

class Lease final : public FileLock {
public:
    explicit Lease(std::shared_ptr<Held> held)
        : held_(std::move(held)), renewing_([held = held_] { keep_renewed(held); }) {}

    // A storage that does not answer must not keep the process from ending, so the thread is abandoned.
    ~Lease() override {
        MutexLock lock(held_->mutex);
        held_->stop = true;
        held_->changed.notify_all();
        while (!held_->removed && lock.wait_for(held_->changed, kRemovalTimeout)) {
        }
        const bool removed = held_->removed;
        lock.unlock();
        if (removed) {
            renewing_.join();
        } else {
            renewing_.detach();
        }
    }

    bool lost() const override {
        const MutexLock lock(held_->mutex);
        return held_->lost;
    }

    Result<bool> change(LockMode mode) override {
        const MutexLock calls(held_->calls);
        if (lost()) return false;
        if (mode == held_->name.mode) return true;
        const LeaseName next = held_->next_name(mode);
        held_->left.push_back(next);  // until it takes the place of the other
        const auto written = write_lease(*held_, next);
        if (!written && (held_->there || !written.error().no_room)) return written.error();
        if (mode == LockMode::exclusive || !held_->there) {
            const auto others = settle(*held_, next);
            if (!others || !others->holders.empty()) {
                (void)held_->store->remove(held_->path(next));
                if (!others) return others.error();
                return false;
            }
        }
        const auto removed = held_->there ? held_->store->remove(held_->path(held_->name)) : Result<void>();
        if (!removed) return removed.error();
        held_->left.pop_back();
        held_->name = next;
        held_->there = written.has_value();
        return true;
    }

private:
    std::shared_ptr<Held> held_;
    std::thread renewing_;
};

}  // namespace

Result<LeaseAttempt> try_lease(const std::shared_ptr<ByteStore>& store,
                               const MediaLockRequest& request,
                               bool local) {
    auto held = std::make_shared<Held>();
    held->store = store;
    held->request = request;
    held->note = request.owner.to_note();
    held->name = {request.name, request.mode, local, id_text(entropy64()), 1};
    const auto written = write_lease(*held, held->name);
    if (!written && !(local && written.error().no_room)) return written.error();
    held->there = written.has_value();
    auto others = settle(*held, held->name);
    if (others && held->there && !others->own_is_there)
        others->holders.push_back({});  // a clean has removed the lease
    LeaseAttempt attempt;
    if (others && others->holders.empty()) {
        attempt.lease = std::make_unique<Lease>(held);
    } else {
        (void)store->remove(held->path(held->name));
        if (!others) return others.error();
        attempt.holders = std::move(others->holders);
    }
    attempt.taken_over = std::move(others->taken_over);
    return attempt;
}

bool is_lease_name(std::string_view name) {
    return lease_name_in(name).has_value();
}

}  // namespace streamsim::media
