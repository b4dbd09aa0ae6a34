#include "media/write/media_lease.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/path.h"
#include "base/prng.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kSuffix = ".lease";
constexpr std::string_view kShared = "shared", kExclusive = "exclusive";
constexpr std::size_t kRunDigits = 16, kNumberDigits = 8;
constexpr int kListings =
    5;  // attempts: a lease renewed between listing and reading is found by the next listing
constexpr auto kRemovalTimeout = std::chrono::seconds(2);

struct LeaseName {
    std::string lock;  // "streamsim-media"
    LockMode mode = LockMode::shared;
    std::string run;
    std::uint64_t number = 0;

    std::string text() const {
        return fmt::format("{}.{}-{}-{:08}{}", lock, mode == LockMode::shared ? kShared : kExclusive, run,
                           number, kSuffix);
    }
};

bool all_of(std::string_view text, std::string_view allowed) {
    return text.find_first_not_of(allowed) == std::string_view::npos;
}

std::optional<LeaseName> lease_name_in(std::string_view name) {
    if (!name.ends_with(kSuffix)) return std::nullopt;
    name.remove_suffix(kSuffix.size());
    const std::size_t tail = kRunDigits + 1 + kNumberDigits;
    if (name.size() <= tail + 1) return std::nullopt;
    const std::string_view number = name.substr(name.size() - kNumberDigits);
    const std::string_view run = name.substr(name.size() - tail, kRunDigits);
    std::string_view head = name.substr(0, name.size() - tail);
    LeaseName out;
    if (!head.ends_with('-')) return std::nullopt;
    head.remove_suffix(1);
    const std::size_t dot = head.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return std::nullopt;
    const std::string_view mode = head.substr(dot + 1);
    if (mode != kShared && mode != kExclusive) return std::nullopt;
    if (!all_of(run, "0123456789abcdef") || !all_of(number, "0123456789")) return std::nullopt;
    out.lock = head.substr(0, dot);
    out.mode = mode == kShared ? LockMode::shared : LockMode::exclusive;
    out.run = run;
    std::from_chars(number.data(), number.data() + number.size(), out.number);
    if (out.text().size() != name.size() + kSuffix.size()) return std::nullopt;
    return out;
}

/// State that a holder shares with the thread that renews its lease.
struct Held {
    std::shared_ptr<ByteStore> store;
    LeaseRequest request;
    LeaseName name;  // name of the current file

    std::mutex calls;  // serialises changes of the files
    std::mutex mutex;  // protects the members below
    std::condition_variable changed;
    bool stop = false;
    bool removed = false;
    bool lost = false;

    std::string path(const LeaseName& of) const { return join_path(request.directory, of.text()); }
};

Result<void> write_lease(ByteStore& store, const std::string& path, const std::string& note) {
    auto sink = store.create(path);
    if (!sink) return sink.error();
    const std::string text = note + "\n";
    if (auto done = (*sink)->write_at(0, std::as_bytes(std::span(text))); !done) return done.error();
    return (*sink)->close();
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

/// The newest lease of each holder of the lock, by its run.
Result<std::map<std::string, LeaseName>> list_leases(const Held& held) {
    const auto entries = held.store->list(held.request.directory);
    if (!entries) return entries.error();
    std::map<std::string, LeaseName> newest;
    for (const DirectoryEntry& entry : *entries) {
        const auto name = lease_name_in(entry.name);
        if (!name || name->lock != held.name.lock || entry.directory || entry.symbolic_link) continue;
        auto [at, is_new] = newest.emplace(name->run, *name);
        const bool later = name->number > at->second.number;
        const bool stronger = name->number == at->second.number && name->mode == LockMode::exclusive;
        if (!is_new && (later || stronger)) at->second = *name;
    }
    return newest;
}

/// The leases that conflict with `own`, and those that turned out to be abandoned.
struct Others {
    std::vector<LeaseNote> holders, taken_over;
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
    for (const auto& [run, name] : *leases) {
        if (run == own.run || (own.mode == LockMode::shared && name.mode == LockMode::shared)) continue;
        const std::string path = held.path(name);
        const auto info = held.store->stat(path);
        if (!info) return info.error();
        if (!*info) {
            others.again = true;
            continue;
        }
        const LeaseNote note{name.mode, read_note(*held.store, path)};
        const bool old = *now && (**now).modified_s - (**info).modified_s > kLeaseAgeMaxSeconds;
        const bool gone = !note.note.empty() && held.request.is_gone && held.request.is_gone(note.note);
        if (!old && !gone) {
            others.holders.push_back(note);
            continue;
        }
        others.taken_over.push_back(note);
        // A lease that vanishes at this moment was removed by another process that found it too old.
        if (auto removed = remove_seen(*held.store, path, **info); !removed) {
            const auto left = held.store->stat(path);
            if (!left || *left) return removed.error();
        }
    }
    return others;
}

/// Decides whether the lease `own`, which exists, may stay.
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

/// REQUIRES: nobody else calls with this lease.
void renew(Held& held) {
    const auto leases = list_leases(held);
    if (!leases) return;  // the storage does not answer: the next renewal tries again
    if (!leases->contains(held.name.run)) {
        const std::lock_guard lock(held.mutex);
        held.lost = true;
        return;
    }
    LeaseName next = held.name;
    ++next.number;
    if (!write_lease(*held.store, held.path(next), held.request.note)) return;
    (void)held.store->remove(held.path(held.name));
    held.name = next;
}

void keep_renewed(const std::shared_ptr<Held>& held) {
    const auto pause = std::chrono::nanoseconds(held->request.renewal.ns);
    for (;;) {
        {
            std::unique_lock lock(held->mutex);
            held->changed.wait_for(lock, pause, [&held] { return held->stop; });
            if (held->stop || held->lost) break;
        }
        const std::lock_guard calls(held->calls);
        renew(*held);
    }
    std::unique_lock lock(held->mutex);
    held->changed.wait(lock, [&held] { return held->stop; });
    const bool remove = !held->lost;
    lock.unlock();
    if (remove) {
        const std::lock_guard calls(held->calls);
        (void)held->store->remove(held->path(held->name));
    }
    lock.lock();
    held->removed = true;
    held->changed.notify_all();
}

class Lease final : public MediaLease {
public:
    explicit Lease(std::shared_ptr<Held> held)
        : held_(std::move(held)), renewing_([held = held_] { keep_renewed(held); }) {}

    // A storage that does not answer must not keep the process from ending, so the thread is abandoned.
    ~Lease() override {
        std::unique_lock lock(held_->mutex);
        held_->stop = true;
        held_->changed.notify_all();
        const bool removed = held_->changed.wait_for(lock, kRemovalTimeout, [this] { return held_->removed; });
        lock.unlock();
        if (removed) {
            renewing_.join();
        } else {
            renewing_.detach();
        }
    }

    bool lost() const override {
        const std::lock_guard lock(held_->mutex);
        return held_->lost;
    }

    Result<bool> change(LockMode mode) override {
        const std::lock_guard calls(held_->calls);
        if (mode == held_->name.mode) return true;
        LeaseName next = held_->name;
        next.mode = mode;
        ++next.number;
        if (auto written = write_lease(*held_->store, held_->path(next), held_->request.note); !written)
            return written.error();
        if (mode == LockMode::exclusive) {
            const auto others = settle(*held_, next);
            if (!others || !others->holders.empty()) {
                (void)held_->store->remove(held_->path(next));
                if (!others) return others.error();
                return false;
            }
        }
        if (auto removed = held_->store->remove(held_->path(held_->name)); !removed) return removed.error();
        held_->name = next;
        return true;
    }

private:
    std::shared_ptr<Held> held_;
    std::thread renewing_;
};

}  // namespace

Result<LeaseAttempt> try_lease(const std::shared_ptr<ByteStore>& store, const LeaseRequest& request) {
    auto held = std::make_shared<Held>();
    held->store = store;
    held->request = request;
    held->name = {request.name, request.mode, id_text(entropy64()), 1};
    if (auto written = write_lease(*store, held->path(held->name), request.note); !written)
        return written.error();
    auto others = settle(*held, held->name);
    if (others && !others->own_is_there) others->holders.push_back({});  // a clean has removed the lease
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
