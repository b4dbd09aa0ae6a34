// Removing a media set: leaf by leaf, and only names that prepare makes. Whatever else is found is kept, with
// the directories above it and the marker, so that clean can be run again once its owner has taken it away.
#include <fmt/format.h>

#include "media/frame_maker.h"
#include "media/load_set.h"
#include "media/media_lock.h"
#include "media/media_set.h"
#include "media/media_set_names.h"
#include "media/recording.h"
#include "media/recording_names.h"
#include "media/sequence_names.h"

namespace streamsim {
namespace {

class Cleaner {
public:
    explicit Cleaner(ByteStore& store) : store_(store) {}

    Result<CleanReport> clean(const std::string& root) {
        const auto entries = store_.list(root);
        if (!entries) return entries.error();
        bool locked = false;
        for (const DirectoryEntry& entry : *entries) {
            const std::string path = join_path(root, entry.name);
            if (is_document(entry, kMarkerName)) continue;  // last of all
            if (is_file(entry) && is_lock_name(entry.name)) {
                locked = true;  // those go when the lock that is held is released
                continue;
            }
            Result<void> done;
            if (!is_directory(entry)) {
                done = keep(path);
            } else if (entry.name == kRecordings && !holds_format(path)) {
                done = clean_recordings(path);
            } else if (entry.name == kLoadDirectory && !holds_format(path)) {
                done = clean_load(path);
            } else {
                done = clean_format(path);
            }
            if (!done) return done.error();
        }
        if (!report_.kept.empty()) return report_;
        if (auto done = remove_documents(root, kMarkerName); !done) return done.error();
        if (locked) return report_;
        if (auto done = store_.remove(root); !done) return done.error();
        return report_;
    }

    Result<CleanReport> clean_run(const std::string& directory) {
        if (auto done = clean_recorded(directory); !done) return done.error();
        return report_;
    }

private:
    // A symbolic link is never ours: what it names may be anywhere.
    static bool is_file(const DirectoryEntry& entry) { return !entry.directory && !entry.symbolic_link; }
    static bool is_directory(const DirectoryEntry& entry) { return entry.directory && !entry.symbolic_link; }
    static bool is_document(const DirectoryEntry& entry, const std::string& name) {
        return is_file(entry) && (entry.name == name || entry.name == name + std::string(kPartial));
    }

    static bool is_frame(const std::string& name) {
        return number_in(prepared_pattern(extension_of(name)), name) && is_frame_extension(extension_of(name));
    }

    Result<void> keep(const std::string& path) {
        report_.kept.push_back(path);
        return {};
    }

    Result<void> remove_file(const std::string& path) {
        const auto info = store_.stat(path);
        if (auto done = store_.remove(path); !done) return done.error();
        ++report_.files_removed;
        if (info && *info) report_.bytes_removed += (*info)->bytes;
        return {};
    }

    /// A document and what is left of an attempt to write it, the attempt first.
    Result<void> remove_documents(const std::string& directory, const std::string& name) {
        const std::string path = join_path(directory, name);
        for (const std::string& candidate : {path + std::string(kPartial), path}) {
            const auto info = store_.stat(candidate);
            if (!info) return info.error();
            if (!*info) continue;
            if (auto done = remove_file(candidate); !done) return done.error();
        }
        return {};
    }

    /// What meters work on: directories of any depth, and files with names of ours.
    Result<void> clean_load(const std::string& directory) {
        const std::size_t kept = report_.kept.size();
        const auto entries = store_.list(directory);
        if (!entries) return entries.error();
        for (const DirectoryEntry& entry : *entries) {
            const std::string path = join_path(directory, entry.name);
            auto done = is_directory(entry)                          ? clean_load(path)
                        : is_file(entry) && is_load_name(entry.name) ? remove_file(path)
                                                                     : keep(path);
            if (!done) return done.error();
        }
        if (report_.kept.size() != kept) return {};
        return store_.remove(directory);
    }

    /// A format may have been called as the recordings are.
    bool holds_format(const std::string& directory) {
        const auto info = store_.stat(join_path(directory, kFormatName));
        return info && *info;
    }

    Result<void> clean_recordings(const std::string& directory) {
        const std::size_t kept = report_.kept.size();
        const auto entries = store_.list(directory);
        if (!entries) return entries.error();
        for (const DirectoryEntry& entry : *entries) {
            const std::string path = join_path(directory, entry.name);
            auto done = is_directory(entry) && is_run(entry.name) ? clean_recorded(path) : keep(path);
            if (!done) return done.error();
        }
        if (report_.kept.size() != kept) return {};
        return store_.remove(directory);
    }

    /// What the recorders of one run made.
    Result<void> clean_recorded(const std::string& directory) {
        const std::size_t kept = report_.kept.size();
        const auto entries = store_.list(directory);
        if (!entries) return entries.error();
        for (const DirectoryEntry& entry : *entries) {
            const std::string path = join_path(directory, entry.name);
            Result<void> done;
            if (is_directory(entry) && is_recording(entry.name)) {
                done = clean_sequence(path);
            } else if (is_file(entry) && is_recorded_file(entry.name)) {
                done = remove_file(path);
            } else {
                done = keep(path);
            }
            if (!done) return done.error();
        }
        if (report_.kept.size() != kept) return {};
        return store_.remove(directory);
    }

    Result<void> clean_format(const std::string& directory) {
        const std::size_t kept = report_.kept.size();
        const auto entries = store_.list(directory);
        if (!entries) return entries.error();
        bool ours = entries->empty();
        for (const DirectoryEntry& entry : *entries) ours = ours || is_document(entry, kFormatName);
        if (!ours) return keep(directory);
        for (const DirectoryEntry& entry : *entries) {
            if (is_document(entry, kFormatName)) continue;
            const std::string path = join_path(directory, entry.name);
            auto done = is_directory(entry) && length_in(entry.name) ? clean_length(path) : keep(path);
            if (!done) return done.error();
        }
        if (report_.kept.size() != kept) return {};
        if (auto done = remove_documents(directory, kFormatName); !done) return done.error();
        return store_.remove(directory);
    }

    Result<void> clean_length(const std::string& directory) {
        const std::size_t kept = report_.kept.size();
        const auto entries = store_.list(directory);
        if (!entries) return entries.error();
        for (const DirectoryEntry& entry : *entries) {
            const std::string path = join_path(directory, entry.name);
            const auto name = clip_name_in(entry.name);
            Result<void> done;
            if (!name || !(name->is_file() ? is_file(entry) : is_directory(entry))) {
                done = keep(path);
            } else if (name->is_file()) {
                done = remove_file(path);
            } else if (name->partial) {
                done = clean_sequence(path);
            } else {
                done = clean_whole_sequence(directory, *name);
            }
            if (!done) return done.error();
        }
        if (report_.kept.size() != kept) return {};
        return store_.remove(directory);
    }

    /// Renamed first: if we are killed half way, what is left must not play as whole.
    Result<void> clean_whole_sequence(const std::string& directory, ClipName name) {
        const std::string whole = join_path(directory, name.text());
        name.partial = true;
        const std::string partial = join_path(directory, name.text());
        const auto other = store_.stat(partial);
        if (!other) return other.error();
        if (*other) {
            if (auto done = clean_sequence(partial); !done) return done.error();
        }
        const auto left = store_.stat(partial);
        if (!left) return left.error();
        if (*left) return clean_sequence(whole);  // something of somebody else's is in the way
        if (auto done = store_.rename(whole, partial); !done) return done.error();
        return clean_sequence(partial);
    }

    Result<void> clean_sequence(const std::string& directory) {
        const auto info = store_.stat(directory);
        if (!info) return info.error();
        if (!*info) return {};  // removed together with its whole twin
        const auto entries = store_.list(directory);
        if (!entries) return entries.error();
        const std::size_t kept = report_.kept.size();
        for (const DirectoryEntry& entry : *entries) {
            const std::string path = join_path(directory, entry.name);
            const bool ours = is_file(entry) && is_frame(entry.name);
            auto done = ours ? remove_file(path) : keep(path);
            if (!done) return done.error();
        }
        if (report_.kept.size() != kept) return {};
        return store_.remove(directory);
    }

    ByteStore& store_;
    CleanReport report_;
};

}  // namespace

Result<CleanReport> clean_recordings_of_run(ByteStore& store, const std::string& directory) {
    return Cleaner(store).clean_run(directory);
}

Result<CleanReport> clean(ByteStore& store, const std::string& target) {
    const std::string root = media_root(target);
    const auto info = store.stat(root);
    if (!info) return info.error();
    if (!*info)
        return bad_input(
            fmt::format("{}: there is no {} in it, so there is nothing to remove", target, kMediaDirectory));
    if ((*info)->symbolic_link) {
        return bad_input(
            fmt::format("{}: is a symbolic link, which prepare does not make; it is left alone", root));
    }
    const auto marker = read_marker(store, root);
    if (!marker) return marker.error();
    if (!*marker) {
        return bad_input(fmt::format("{}: has no {}, so it is not known to be streamsim's and is left alone",
                                     root, kMarkerName));
    }
    return Cleaner(store).clean(root);
}

}  // namespace streamsim
