#include "media/load_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/prng.h"
#include "base/units.h"
#include "media/media_set_names.h"
#include "media/payload.h"
#include "media/sequence_index.h"

namespace streamsim {
namespace {

constexpr std::size_t kPieceBytes = 4u << 20;  // of one write; also how soon a cancel is seen

std::string directory_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

/// What a directory holds, by name; empty where it is not there.
Result<std::map<std::string, DirectoryEntry>> entries_of(ByteStore& store, const std::string& directory) {
    std::map<std::string, DirectoryEntry> all;
    const auto info = store.stat(directory);
    if (!info) return info.error();
    if (!*info) return all;
    auto entries = store.list(directory);
    if (!entries) return entries.error();
    for (DirectoryEntry& entry : *entries) all.emplace(entry.name, std::move(entry));
    return all;
}

Result<void> write_file(ByteStore& store,
                        const LoadFile& file,
                        std::uint64_t key,
                        std::span<std::byte> buffer,
                        PrepareProgress& progress) {
    const std::string partial = file.path + std::string(kPartial);
    auto sink = store.create(partial);
    if (!sink) return sink.error();
    for (std::uint64_t at = 0; at < file.bytes; at += buffer.size()) {
        if (progress.cancel) return interrupted_error();
        const auto piece = buffer.first(std::min<std::uint64_t>(buffer.size(), file.bytes - at));
        fill_payload(piece, key, {}, at);
        if (auto written = (*sink)->write_at(at, piece); !written) return written.error();
        progress.bytes_done += piece.size();
    }
    if (auto closed = (*sink)->close(); !closed) return closed.error();
    return store.rename(partial, file.path);
}

}  // namespace

std::string load_root(const std::string& target) {
    return join_path(media_root(target), kLoadDirectory);
}

Result<LoadSetPlan> plan_load_set(ByteStore& store, const LoadSet& set) {
    const auto info = store.stat(set.target);
    if (!info) return info.error();
    if (!*info || !(*info)->directory)
        return environment_error(fmt::format("{}: is not a directory: meters work in one", set.target));
    if (auto marker = read_marker(store, media_root(set.target)); !marker) return marker.error();
    LoadSetPlan plan;
    plan.missing.target = set.target;
    std::map<std::string, std::map<std::string, DirectoryEntry>> there;
    for (const std::string& directory : set.directories) {
        auto entries = entries_of(store, directory);
        if (!entries) return entries.error();
        const auto known = store.stat(directory);
        if (!known) return known.error();
        if (!*known) plan.missing.directories.push_back(directory);
        there.emplace(directory, std::move(*entries));
    }
    for (const LoadFile& file : set.files) {
        const auto directory = there.find(directory_of(file.path));
        const std::string name = file.path.substr(file.path.rfind('/') + 1);
        if (directory != there.end() && directory->second.contains(name)) {
            const auto old = store.stat(file.path);
            if (!old) return old.error();
            if (*old && (*old)->bytes == file.bytes && !(*old)->symbolic_link) continue;
            if (*old && ((*old)->directory || (*old)->symbolic_link))
                return environment_error(fmt::format("{}: is not a file of ours", file.path));
        }
        plan.missing.files.push_back(file);
        plan.bytes_to_write += file.bytes;
    }
    if (plan.missing.files.empty()) return plan;
    const auto free = store.free_bytes(set.target);
    if (!free) return free.error();
    plan.bytes_free = *free;
    if (plan.bytes_to_write > *free - *free / 100) {
        return environment_error(
            fmt::format("{}: the working set needs {}, and {} are free (1 % of it is left alone)", set.target,
                        show_bytes(plan.bytes_to_write), show_bytes(*free)));
    }
    return plan;
}

Result<void> write_load_set(ByteStore& store,
                            const LoadSetPlan& plan,
                            std::uint64_t seed,
                            PrepareProgress& progress) {
    progress.bytes_total = plan.bytes_to_write;
    if (plan.nothing_to_do()) return {};
    const auto id = ensure_marker(store, media_root(plan.missing.target));
    if (!id) return id.error();
    for (const std::string& directory : plan.missing.directories) {
        if (progress.cancel) return interrupted_error();
        if (auto made = store.make_directories(directory); !made) return made.error();
    }
    std::vector<std::byte> buffer(kPieceBytes);
    std::uint64_t number = 0;
    for (const LoadFile& file : plan.missing.files) {
        const auto old =
            store.stat(file.path);  // of another length: cut short by somebody, or left by an older run
        if (!old) return old.error();
        if (*old) {
            if (auto removed = store.remove(file.path); !removed) return removed.error();
        }
        const std::uint64_t key = derive_seed(derive_seed(*id, seed), ++number);
        if (auto written = write_file(store, file, key, buffer, progress); !written) return written.error();
    }
    return {};
}

Result<void> evict_all(ByteStore& store, const LoadSet& set) {
    for (const LoadFile& file : set.files) {
        if (auto done = store.evict(file.path); !done) return done;
    }
    return {};
}

Result<void> read_all(ByteStore& store, const LoadSet& set) {
    std::vector<std::byte> buffer(kPieceBytes);
    for (const LoadFile& file : set.files) {
        const auto source = store.open(file.path);
        if (!source) return source.error();
        for (std::uint64_t at = 0;;) {
            const auto got = (*source)->read_at(at, buffer);
            if (!got) return got.error();
            at += *got;
            if (*got < buffer.size()) break;
        }
    }
    return {};
}

Result<void> remove_others(ByteStore& store, const LoadSet& set) {
    std::set<std::string> kept;
    for (const LoadFile& file : set.files) kept.insert(file.path);
    for (const std::string& directory : set.directories) {
        const auto entries = entries_of(store, directory);
        if (!entries) return entries.error();
        for (const auto& [name, entry] : *entries) {
            const std::string path = join_path(directory, name);
            if (entry.directory || entry.symbolic_link || !is_load_name(name) || kept.contains(path)) continue;
            if (auto removed = store.remove(path); !removed) return removed.error();
        }
    }
    return {};
}

bool is_load_name(std::string_view name) {
    return name.ends_with(".load") || name.ends_with(".load.partial");
}

}  // namespace streamsim
