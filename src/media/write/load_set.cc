#include "media/write/load_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/fnv1a.h"
#include "base/path.h"
#include "base/prng.h"
#include "base/units.h"
#include "media/frames/payload.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/own_names.h"
#include "media/write/load_record.h"
#include "media/write/media_set_names.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kLoadPieceBytes = 4u << 20;  // of one write, and so the delay until a cancel is noticed

Error not_ours(const std::string& path, std::string_view what) {
    return environment_error(
        fmt::format("{}: found {}, expected a file that streamsim made: it is left alone", path, what));
}

/// Meters write into the file and replace it. Without records a file of the right length counts as made by
/// version 0.1.0, which kept no records.
Result<void> expect_ours(const FileInfo& info,
                         const LoadFile& file,
                         const LoadNames& ours,
                         const std::string& name) {
    const bool known = ours.documents.empty() ? info.bytes == file.bytes : ours.has_file(name, info);
    const char* const what = info.symbolic_link ? "a symbolic link"
                             : info.directory   ? "a directory"
                             : info.other       ? "a device, FIFO or socket"
                             : info.links > 1   ? "a file with several names (hard links)"
                             : !known           ? "a file that no record of ours names with this length"
                                                : nullptr;
    return what == nullptr ? Result<void>{} : not_ours(file.path, what);
}

Result<void> write_bytes(ByteSink& sink,
                         const LoadFile& file,
                         std::uint64_t key,
                         std::span<std::byte> buffer,
                         PrepareProgress& progress) {
    for (std::uint64_t at = 0; at < file.bytes; at += buffer.size()) {
        if (progress.cancel) return interrupted_error();
        const auto piece = buffer.first(std::min<std::uint64_t>(buffer.size(), file.bytes - at));
        fill_payload(piece, key, {}, at);
        if (auto written = sink.write_at(at, piece); !written) return written.error();
        progress.bytes_done += piece.size();
    }
    return sink.close();
}

Result<void> write_file(ByteStore& store,
                        const LoadFile& file,
                        std::uint64_t key,
                        std::uint64_t run,
                        std::span<std::byte> buffer,
                        PrepareProgress& progress) {
    const std::string partial = file.path + partial_suffix(run);
    auto sink = store.create(partial);
    if (!sink) return sink.error();
    auto done = write_bytes(**sink, file, key, buffer, progress);
    sink->reset();
    if (done) done = store.rename(partial, file.path);
    if (!done) (void)store.remove(partial);  // no later run continues it
    return done;
}

/// True for the name of a file that a run was writing.
bool has_run(std::string_view name) {
    return take_id_and(kPartial, name);
}

/// The unfinished files of ours among those of a directory, in bytes.
Result<std::uint64_t> unfinished_bytes(ByteStore& store,
                                       const std::string& root,
                                       const std::string& directory,
                                       const std::set<std::string>& names,
                                       const LoadNames& ours) {
    std::uint64_t bytes = 0;
    for (const std::string& name : names) {
        if (!has_run(name)) continue;
        const std::string path = join_path(directory, name);
        const auto info = store.stat(path);
        if (!info) return info.error();
        if (*info && ours.has_file(path.substr(root.size() + 1), **info)) bytes += (*info)->bytes;
    }
    return bytes;
}

/// Files in the directories of the set whose names may be of such a file, and that are chosen then; nothing
/// below a link.
Result<void> remove_from(ByteStore& whole_store,
                         const LoadSet& set,
                         const std::function<bool(const std::string& path)>& named,
                         const std::function<bool(const std::string& path, const FileInfo& info)>& chosen) {
    const auto there = whole_store.stat(load_root(set.target));
    if (!there) return there.error();
    if (!*there) return {};
    const auto confined = whole_store.beneath(set.target);
    if (!confined) return confined.error();
    for (const std::string& directory : set.directories) {
        const auto known = (*confined)->stat(directory);
        if (!known) return known.error();
        if (!*known || (*known)->symbolic_link || !(*known)->directory) continue;
        const auto inside = (*confined)->beneath(directory);
        if (!inside) return inside.error();
        const auto entries = (*inside)->list(directory);
        if (!entries) return entries.error();
        for (const DirectoryEntry& entry : *entries) {
            const std::string path = join_path(directory, entry.name);
            if (entry.directory || entry.symbolic_link || !named(path)) continue;
            const auto info = (*inside)->stat(path);
            if (!info) return info.error();
            if (!*info || !chosen(path, **info)) continue;
            if (auto removed = remove_seen(**inside, path, **info); !removed) return removed.error();
        }
    }
    return {};
}

}  // namespace

std::string load_root(const std::string& target) {
    return join_path(media_root(target), kLoadDirectory);
}

Result<LoadSetPlan> plan_load_set(ByteStore& whole_store, const LoadSet& set) {
    const auto info = whole_store.stat(set.target);
    if (!info) return info.error();
    if (!*info || !(*info)->directory)
        return environment_error(fmt::format("{}: is not a directory: meters work in one", set.target));
    const auto confined = whole_store.beneath(set.target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    const auto marker = read_marker(store, media_root(set.target));
    if (!marker) return marker.error();
    const std::string root = load_root(set.target);
    if (auto real = directory_exists(store, root); !real) return real.error();
    const auto ours = read_load_records(store, root, marker->value_or(0));
    if (!ours) return ours.error();
    LoadSetPlan plan;
    plan.missing.target = set.target;
    plan.all = set;
    std::uint64_t unfinished = 0;                        // bytes
    std::map<std::string, std::set<std::string>> names;  // of the files in each directory
    for (const std::string& directory : set.directories) {
        const auto there = directory_exists(store, directory);
        if (!there) return there.error();
        if (!*there) plan.missing.directories.push_back(directory);
        auto files = names_in(store, directory);
        if (!files) return files.error();
        const auto left = unfinished_bytes(store, root, directory, *files, *ours);
        if (!left) return left.error();
        unfinished += *left;
        names.emplace(directory, std::move(*files));
    }
    for (const LoadFile& file : set.files) {
        const auto directory = names.find(parent_of(file.path));
        if (directory != names.end() && directory->second.contains(base_name(file.path))) {
            const auto old = store.stat(file.path);
            if (!old) return old.error();
            if (*old) {
                const std::string below = file.path.substr(root.size() + 1);
                if (auto mine = expect_ours(**old, file, *ours, below); !mine) return mine.error();
            }
            if (*old && (*old)->bytes == file.bytes) continue;
        }
        plan.missing.files.push_back(file);
        plan.bytes_to_write += file.bytes;
    }
    if (plan.missing.files.empty()) return plan;
    const auto free = store.free_bytes(set.target);
    if (!free) return free.error();
    plan.bytes_free = *free + unfinished;
    if (plan.bytes_to_write > plan.bytes_free - plan.bytes_free / 100) {
        return environment_error(
            fmt::format("{}: the working set needs {}, and {} are free (1 % of it is left alone)", set.target,
                        show_bytes(plan.bytes_to_write), show_bytes(plan.bytes_free)));
    }
    return plan;
}

Result<void> record_load_set(ByteStore& whole_store, const LoadSetPlan& plan) {
    const auto confined = whole_store.beneath(plan.missing.target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    const auto id = ensure_marker(store, media_root(plan.missing.target));
    if (!id) return id.error();
    const std::string root = load_root(plan.missing.target);
    if (auto made = store.make_directories(root); !made) return made.error();
    const LoadSet& names = plan.all.files.empty() && plan.all.directories.empty() ? plan.missing : plan.all;
    if (auto recorded = write_load_records(store, root, *id, names); !recorded) return recorded.error();
    for (const std::string& directory : plan.missing.directories) {
        if (auto made = store.make_directories(directory); !made) return made.error();
    }
    return {};
}

Result<void> write_load_set(ByteStore& whole_store,
                            const LoadSetPlan& plan,
                            std::uint64_t seed,
                            PrepareProgress& progress) {
    progress.bytes_total = plan.bytes_to_write;
    if (plan.nothing_to_do()) return {};
    if (progress.cancel) return interrupted_error();
    if (!plan.recorded) {
        if (auto recorded = record_load_set(whole_store, plan); !recorded) return recorded;
    }
    const auto confined = whole_store.beneath(plan.missing.target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    const auto id = ensure_marker(store, media_root(plan.missing.target));
    if (!id) return id.error();
    const std::uint64_t run = entropy64();
    std::vector<std::byte> buffer(kLoadPieceBytes);
    const std::string root = load_root(plan.missing.target);
    const auto ours = read_load_records(store, root, *id);
    if (!ours) return ours.error();
    for (const LoadFile& file : plan.missing.files) {
        const std::string name = file.path.substr(root.size() + 1);
        // An existing file of ours has another length: left by an older run.
        const auto is_ours = [&](const std::string& at) -> Result<bool> {
            const auto info = store.stat(at);
            if (!info) return info.error();
            return *info && ours->has_file(name, **info);
        };
        if (auto free = make_way(store, file.path, not_ours(file.path, "something else"), is_ours); !free)
            return free;
        // From its name: in whatever order and part the files are written, no two of them are alike.
        const std::uint64_t key = derive_seed(derive_seed(*id, seed), fnv1a(name));
        if (auto written = write_file(store, file, key, run, buffer, progress); !written)
            return written.error();
    }
    return {};
}

Result<void> evict_all(ByteStore& whole_store, const LoadSet& set) {
    const auto confined = whole_store.beneath(set.target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    Result<void> all;
    for (const LoadFile& file : set.files) {
        if (auto done = store.evict(file.path); !done && all) all = done;
    }
    return all;
}

Result<void> read_all(ByteStore& whole_store, const LoadSet& set) {
    const auto confined = whole_store.beneath(set.target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    std::vector<std::byte> buffer(kLoadPieceBytes);
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
    const auto named = [&](const std::string& path) {
        return is_created_name(base_name(path)) && !kept.contains(path);
    };
    return remove_from(store, set, named, [](const std::string&, const FileInfo& info) {
        return info.is_regular() && info.links <= 1;
    });
}

namespace {

Result<void> remove_ours(ByteStore& store, const LoadSet& set, bool only_unfinished) {
    const std::string root = load_root(set.target);
    const auto marker = read_marker(store, media_root(set.target));
    if (!marker) return marker.error();
    const auto ours = read_load_records(store, root, marker->value_or(0));
    if (!ours) return ours.error();
    const auto named = [&](const std::string& path) { return !only_unfinished || has_run(path); };
    return remove_from(store, set, named, [&](const std::string& path, const FileInfo& info) {
        return path.size() > root.size() && ours->has_file(path.substr(root.size() + 1), info);
    });
}

}  // namespace

Result<void> remove_recorded(ByteStore& store, const LoadSet& set) {
    return remove_ours(store, set, false);
}

Result<void> remove_unfinished(ByteStore& store, const LoadSet& set) {
    return remove_ours(store, set, true);
}

}  // namespace streamsim::media
