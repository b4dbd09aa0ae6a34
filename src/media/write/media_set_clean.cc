// Removing a media set: leaf by leaf, and only what its own records name. Whatever else is found is kept, with
// the directories above it and the marker, so that clean can be run again once its owner has taken it away.
// Each directory is listed, checked and emptied through one ByteStore::beneath() of it: what has its name a
// moment later is not touched.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/path.h"
#include "base/prng.h"
#include "media/catalogue/catalogue.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/document_file.h"
#include "media/own_files/own_names.h"
#include "media/sequence/sequence_names.h"
#include "media/write/clip_proof.h"
#include "media/write/clip_record.h"
#include "media/write/load_record.h"
#include "media/write/load_set.h"
#include "media/write/media_lock.h"
#include "media/write/media_set.h"
#include "media/write/media_set_names.h"
#include "media/write/recording.h"

namespace streamsim::media {
namespace {

// A symbolic link is never ours, because its target may be anywhere.
bool is_file(const DirectoryEntry& entry) {
    return !entry.directory && !entry.symbolic_link;
}
bool is_directory(const DirectoryEntry& entry) {
    return entry.directory && !entry.symbolic_link;
}

/// A directory that is being emptied.
struct OpenDirectory {
    std::string path;
    std::unique_ptr<ByteStore> store;  // confined to this directory
    FileInfo info;
    std::vector<DirectoryEntry> entries;
    std::map<std::string, FileInfo> files;  // entries that the listing calls neither directory nor link
    std::map<std::uint64_t, std::uint64_t> names_removed;  // by file_id, of files with several names
};

Result<OpenDirectory> enter(ByteStore& parent, const std::string& path) {
    auto store = parent.beneath(path);
    if (!store) return store.error();
    const auto info = (*store)->stat(path);
    if (!info) return info.error();
    auto entries = (*store)->list(path);
    if (!entries) return entries.error();
    return OpenDirectory{path, std::move(*store), info->value_or(FileInfo{}), std::move(*entries), {}, {}};
}

/// The number in the name of a record, also of an unfinished one, and the document's final name.
std::optional<std::uint32_t> record_number(std::string_view name, std::string& document) {
    (void)take_partial(name);
    document = name;
    return record_number_in(name);
}

class Cleaner {
public:
    Cleaner(ByteStore& store, std::uint64_t set, std::function<bool()> stopped)
        : store_(store), set_(set), stopped_(std::move(stopped)) {}

    Result<CleanReport> clean(const std::string& root) {
        auto here = enter_to_clean(store_, root);
        if (!here) return here.error();
        const auto documents = documents_of(*here, kMarkerName);
        if (!documents) return documents.error();
        bool locked = false;
        for (const DirectoryEntry& entry : here->entries) {
            const std::string path = join_path(root, entry.name);
            if (documents->contains(entry.name)) continue;  // last of all
            const bool may_lock = is_file(entry) && is_lock_name(entry.name);
            const auto is_lock = may_lock ? is_lock_file(*here->store, path) : Result<bool>(false);
            if (!is_lock) return is_lock.error();
            Result<void> done;
            if (*is_lock) {
                locked = true;  // locks go when the lock that is held is released
            } else if (!is_directory(entry)) {
                done = keep(path);
            } else if (entry.name == kRecordings && !holds_format(*here->store, path)) {
                done = clean_recordings(*here->store, path);
            } else if (entry.name == kLoadDirectory && !holds_format(*here->store, path)) {
                done = clean_load(*here->store, path);
            } else {
                done = clean_format(*here->store, path);
            }
            if (!done) return done.error();
        }
        if (!report_.kept.empty()) return concluded();
        if (auto done = remove_documents(*here, kMarkerName); !done) return done.error();
        if (locked || !report_.kept.empty()) return report_;
        if (auto done = store_.remove_directory(root); !done) return done.error();
        return report_;
    }

    /// The set has no marker yet. The directory goes with the lock file that is held.
    Result<CleanReport> clean_begun(const std::string& root) {
        auto here = enter_to_clean(store_, root);
        if (!here) return here.error();
        if (auto done = remove_documents(*here, kMarkerName); !done) return done.error();
        return report_;
    }

    Result<CleanReport> clean_run(const std::string& directory) {
        if (auto done = clean_recorded(store_, directory); !done) return done.error();
        return concluded();
    }

private:
    bool stopped() const { return stopped_ && stopped_(); }

    /// Files that an interrupted clean was about to remove go first.
    Result<OpenDirectory> enter_to_clean(ByteStore& parent, const std::string& path) {
        if (stopped()) return interrupted_error();
        auto opened = enter(parent, path);
        if (!opened) return opened;
        std::vector<DirectoryEntry> left;
        for (DirectoryEntry& entry : opened->entries) {
            if (stopped()) return interrupted_error();
            const std::string at = join_path(path, entry.name);
            const auto info = is_file(entry) ? opened->store->stat(at) : std::optional<FileInfo>();
            if (!info) return info.error();
            if (*info && is_half_removed(entry.name, **info)) {
                if (auto done = opened->store->remove(at); !done) return done.error();
                count(**info);
                continue;
            }
            if (*info) opened->files.emplace(entry.name, **info);
            left.push_back(std::move(entry));
        }
        opened->entries = std::move(left);
        return opened;
    }

    /// The names of a document and of the remains of attempts to write it.
    static Result<std::set<std::string>> documents_of(const OpenDirectory& here, const std::string& name) {
        std::set<std::string> names;
        for (const DirectoryEntry& entry : here.entries) {
            if (!is_file(entry)) continue;
            const auto ours = entry.name == name
                                  ? Result<bool>(true)
                                  : is_unfinished(*here.store, join_path(here.path, entry.name), name);
            if (!ours) return ours.error();
            if (*ours) names.insert(entry.name);
        }
        return names;
    }

    Result<void> keep(const std::string& path) {
        report_.kept.push_back(path);
        return {};
    }

    /// Nobody knows whose file it is: it stays, and the rest is cleaned.
    Result<void> keep_unread(const std::string& path, const Error& error) {
        if (error.kind == ErrorKind::interrupted) return error;
        if (!unread_.insert(path).second) return {};
        problems_.insert(problems_.end(), error.problems.begin(), error.problems.end());
        return keep(path);
    }

    /// An error where a file could not be read, which names what else is kept, too.
    Result<CleanReport> concluded() const {
        if (unread_.empty()) return report_;
        Error error{ErrorKind::environment, problems_};
        for (const std::string& path : report_.kept)
            if (!unread_.contains(path)) error.problems.push_back(path + ": is not ours, and stays");
        return error;
    }

    void count(const FileInfo& info) {
        ++report_.files_removed;
        report_.bytes_removed += info.bytes;
    }

    /// Removes the file that the listing of the directory had under this name, and never a file that took the
    /// name since. A kill within a rename by link and unlink leaves two names of a file: the removal of one
    /// lowers the number of links that the other was seen with.
    Result<void> remove_file(OpenDirectory& here, const std::string& name, const IsOurs& is_ours = nullptr) {
        if (stopped()) return interrupted_error();
        const std::string path = join_path(here.path, name);
        const auto listed = here.files.find(name);
        if (listed == here.files.end()) return keep(path);
        FileInfo seen = listed->second;
        const bool several = seen.links > 1 && seen.file_id != 0;
        if (several) seen.links -= here.names_removed[seen.file_id];
        const auto removed = remove_seen(*here.store, path, seen, is_ours);
        if (!removed) return removed.error();
        if (!*removed) return keep(path);
        if (several) ++here.names_removed[seen.file_id];
        count(seen);
        return {};
    }

    Result<void> remove_document(OpenDirectory& here, const std::string& name) {
        std::string_view whole = name;
        const bool unfinished = take_id_and(kPartial, whole);
        return remove_file(here, name, [&here, unfinished](const std::string& at) {
            return unfinished ? is_torn_document(*here.store, at) : is_document(*here.store, at);
        });
    }

    /// Removes a document and the remains of attempts to write it, the attempts first.
    Result<void> remove_documents(OpenDirectory& here, const std::string& name) {
        const auto documents = documents_of(here, name);
        if (!documents) return documents.error();
        for (const bool whole : {false, true}) {
            for (const std::string& each : *documents) {
                if ((each == name) != whole) continue;
                if (auto done = remove_document(here, each); !done) return done;
            }
        }
        return {};
    }

    using CleanEntry = std::function<Result<void>(const DirectoryEntry& entry, const std::string& path)>;

    /// Cleans each entry of a directory. When nothing in it was kept, calls `last` (if given), and when nothing
    /// was kept then either, removes the directory.
    Result<void> clean_directory(ByteStore& parent,
                                 const OpenDirectory& here,
                                 const CleanEntry& each,
                                 const std::function<Result<void>()>& last = nullptr) {
        const std::size_t kept = report_.kept.size();
        for (const DirectoryEntry& entry : here.entries) {
            if (auto done = each(entry, join_path(here.path, entry.name)); !done) return done;
        }
        if (last && report_.kept.size() == kept) {
            if (auto done = last(); !done) return done;
        }
        return report_.kept.size() == kept ? parent.remove_directory(here.path) : Result<void>{};
    }

    Result<void> clean_load(ByteStore& parent, const std::string& directory) {
        auto here = enter_to_clean(parent, directory);
        if (!here) return here.error();
        const auto names = read_load_records(*here->store, directory, set_);
        if (!names) return names.error();
        const auto each = [&](const DirectoryEntry& entry, const std::string&) -> Result<void> {
            if (is_file(entry) && names->documents.contains(entry.name)) return {};  // last
            return clean_load_entry(*here, directory, *names, entry);
        };
        return clean_directory(parent, *here, each, [&]() -> Result<void> {
            for (const std::string& document : names->documents) {
                if (auto done = remove_document(*here, document); !done) return done;
            }
            return {};
        });
    }

    Result<void> clean_load_entry(OpenDirectory& here,
                                  const std::string& root,
                                  const LoadNames& names,
                                  const DirectoryEntry& entry) {
        const std::string path = join_path(here.path, entry.name);
        const std::string name = path.substr(root.size() + 1);
        if (is_file(entry)) {
            const auto file = here.files.find(entry.name);
            const bool ours = file != here.files.end() && names.has_file(name, file->second);
            return ours ? remove_file(here, entry.name) : keep(path);
        }
        if (!is_directory(entry) || !names.directories.contains(name)) return keep(path);
        auto inner = enter_to_clean(*here.store, path);
        if (!inner) return inner.error();
        return clean_directory(*here.store, *inner, [&](const DirectoryEntry& each, const std::string&) {
            return clean_load_entry(*inner, root, names, each);
        });
    }

    ClipProof proof() const { return {format_ ? &*format_ : nullptr, set_, true}; }

    /// A format may have the name of the recordings' directory.
    static bool holds_format(ByteStore& store, const std::string& directory) {
        const auto info = store.stat(join_path(directory, kFormatName));
        return info && *info;
    }

    Result<void> clean_recordings(ByteStore& parent, const std::string& directory) {
        const auto here = enter_to_clean(parent, directory);
        if (!here) return here.error();
        return clean_directory(parent, *here, [&](const DirectoryEntry& entry, const std::string& path) {
            return is_directory(entry) && is_run(entry.name) ? clean_recorded(*here->store, path) : keep(path);
        });
    }

    /// True for the empty file by which a run learns the alignment of writes before it records its streams.
    static bool is_begun_recording(const OpenDirectory& here, const DirectoryEntry& entry) {
        const std::string_view name = entry.name;
        const auto file = here.files.find(entry.name);
        return file != here.files.end() && file->second.bytes == 0 && name.ends_with(kAlignmentKind) &&
               is_recording(name.substr(0, name.size() - kAlignmentKind.size()));
    }

    Result<void> clean_recorded(ByteStore& parent, const std::string& directory) {
        auto here = enter_to_clean(parent, directory);
        if (!here) return here.error();
        const auto streams = read_recorded_streams(*here->store, directory, set_);
        if (!streams) return streams.error();
        const auto documents = documents_of(*here, kRecordedStreams);
        if (!documents) return documents.error();
        const auto each = [&](const DirectoryEntry& entry, const std::string& path) -> Result<void> {
            if (documents->contains(entry.name)) return {};
            const RecordedStream* const stream = find_stream(*streams, entry.name);
            if (stream != nullptr && !stream->is_file() && is_directory(entry))
                return clean_frames(*here->store, path, path, {stream->kind, stream->frames});
            const bool ours = stream != nullptr && stream->is_file() && is_file(entry);
            return ours || is_begun_recording(*here, entry) ? remove_file(*here, entry.name) : keep(path);
        };
        return clean_directory(parent, *here, each, [&] { return remove_documents(*here, kRecordedStreams); });
    }

    Result<void> clean_format(ByteStore& parent, const std::string& directory) {
        const std::size_t kept = report_.kept.size();
        auto here = enter_to_clean(parent, directory);
        if (!here) return here.error();
        const auto identity = read_identity(*here->store, directory);
        if (!identity) return identity.error();
        const auto documents = documents_of(*here, kFormatName);
        if (!documents) return documents.error();
        if (!*identity && !is_begun_format(*here, *documents)) return keep(directory);
        format_ = *identity ? format_of_identity(**identity) : std::nullopt;
        for (const DirectoryEntry& entry : here->entries) {
            if (documents->contains(entry.name)) continue;
            const std::string path = join_path(directory, entry.name);
            const auto frames = length_in(entry.name);
            auto done = is_directory(entry) && frames ? clean_length(*here->store, path, *frames) : keep(path);
            if (!done) return done.error();
        }
        if (report_.kept.size() != kept) return {};
        return remove_format(parent, *here);
    }

    /// True when a directory holds the remains of a format after a killed prepare or clean: an unfinished
    /// document, or, under an unfinished name, only documents.
    static bool is_begun_format(const OpenDirectory& here, const std::set<std::string>& documents) {
        std::string_view name = here.path;
        const bool partial = take_partial(name) && here.path.size() - name.size() > kPartial.size();
        const auto is_left = [&](const DirectoryEntry& entry) {
            return (partial || entry.name != kFormatName) && documents.contains(entry.name);
        };
        return (partial || here.entries.size() == 1) &&
               std::all_of(here.entries.begin(), here.entries.end(), is_left);
    }

    /// Renamed first, because an empty directory without an unfinished name would count as somebody else's.
    Result<void> remove_format(ByteStore& parent, const OpenDirectory& here) {
        std::string_view name = here.path;
        const std::string partial = take_partial(name) ? here.path : here.path + partial_suffix(entropy64());
        if (stopped()) return interrupted_error();
        if (partial != here.path) {
            if (auto done = parent.rename(here.path, partial); !done) return done;
        }
        auto held = enter_to_clean(parent, partial);
        if (!held || !may_be_same_file(held->info.file_id, here.info.file_id)) {
            const bool exchanged = held || was_exchanged(parent, partial);
            if (auto back = parent.rename(partial, here.path); !back) return back;
            return exchanged ? keep(here.path) : held.error();
        }
        const std::size_t kept = report_.kept.size();
        if (auto done = remove_documents(*held, kFormatName); !done) return done.error();
        return report_.kept.size() == kept ? parent.remove_directory(partial) : Result<void>{};
    }

    Result<void> clean_length(ByteStore& parent, const std::string& directory, std::uint64_t frames) {
        const std::size_t kept = report_.kept.size();
        maker_.reset();
        auto here = enter_to_clean(parent, directory);
        if (!here) return here.error();
        for (const DirectoryEntry& entry : here->entries) {
            std::string document;
            if (is_file(entry) && record_number(entry.name, document)) continue;  // after the clips
            const auto name = clip_name_in(entry.name);
            if (!name || !(name->is_file() ? is_file(entry) : is_directory(entry))) {
                (void)keep(join_path(directory, entry.name));
                continue;
            }
            const StoredClip clip{frames, *name, join_path(directory, entry.name)};
            auto done = name->is_file() ? clean_container(*here, clip) : clean_sequence(*here->store, clip);
            if (!done) return done;
        }
        if (auto done = clean_records(*here, frames); !done) return done;
        if (report_.kept.size() != kept) return {};
        return parent.remove_directory(directory);
    }

    /// Removes records whose clips are gone. Clips that stay because they hold somebody else's files keep their
    /// records.
    Result<void> clean_records(OpenDirectory& here, std::uint64_t frames) {
        const auto left = here.store->list(here.path);
        if (!left) return left.error();
        std::set<std::uint32_t> clips;
        for (const DirectoryEntry& entry : *left) {
            const auto name = clip_name_in(entry.name);
            if (!name) continue;
            const StoredClip clip{frames, *name, join_path(here.path, entry.name)};
            const auto ours = is_ours(*here.store, clip, {nullptr, set_});
            if (!ours) {
                if (auto kept = keep_unread(clip.path, ours.error()); !kept) return kept;
            }
            if (!ours || *ours) clips.insert(name->number);
        }
        for (const DirectoryEntry& entry : *left) {
            std::string document;
            const auto number = record_number(entry.name, document);
            if (!number || !is_file(entry)) continue;
            const std::string path = join_path(here.path, entry.name);
            const bool unfinished = entry.name != document;
            const auto ours = unfinished ? is_unfinished(*here.store, path, document)
                                         : is_record(*here.store, here.path, set_, entry.name);
            if (!ours) {
                if (auto kept = keep_unread(path, ours.error()); !kept) return kept;
            } else if (!*ours) {
                (void)keep(path);
            } else if (!clips.contains(*number)) {
                if (auto done = remove_document(here, entry.name); !done) return done;
            }
        }
        return {};
    }

    Result<void> clean_container(OpenDirectory& here, const StoredClip& clip) {
        const auto ours = is_ours(*here.store, clip, proof());
        if (!ours) return keep_unread(clip.path, ours.error());
        const std::string name = clip.name.text();
        if (*ours) {
            return remove_file(here, name, [&](const std::string& at) {
                return is_ours(*here.store, {clip.frames, clip.name, at}, proof());
            });
        }
        // prepare was killed between the creation of the file and of its record.
        const auto file = here.files.find(name);
        const bool begun = clip.name.partial && clip.name.ending != kPartial && file != here.files.end() &&
                           file->second.bytes == 0;
        return begun ? remove_file(here, name) : keep(clip.path);
    }

    /// True when somebody replaced a directory meanwhile.
    static bool was_exchanged(ByteStore& parent, const std::string& directory) {
        const auto info = parent.stat(directory);
        return info && (!*info || (*info)->symbolic_link || !(*info)->directory);
    }

    /// Renamed first, so that the remains do not play as a whole clip if this process is killed meanwhile.
    Result<void> clean_sequence(ByteStore& parent, const StoredClip& clip) {
        const auto record = read_record(parent, key_of(clip, set_));
        if (!record) return record.error();
        const auto here = enter(parent, clip.path);
        if (!here && !was_exchanged(parent, clip.path)) return here.error();
        if (!here) return keep(clip.path);
        const bool empty = here->entries.empty() && clip.name.partial;
        const bool recorded = *record && (*record)->frames == clip.frames && is_recorded(**record, here->info);
        const bool ours = recorded || empty || (!*record && is_proven(*here->store, clip, proof()));
        if (!ours) return keep(clip.path);
        const std::string kind = *record ? (*record)->kind : format_ ? record_kind(*format_) : std::string();
        if (!maker_) maker_ = known_maker(proof().format, clip.frames);
        const Frames frames{kind, clip.frames, maker_->get()};
        if (clip.name.partial) return clean_frames(parent, clip.path, clip.path, frames);
        if (stopped()) return interrupted_error();
        ClipName name = clip.name;
        name.partial = true;
        name.ending = partial_suffix(entropy64());
        const std::string partial = join_path(parent_of(clip.path), name.text());
        if (auto done = parent.rename(clip.path, partial); !done) return done;
        const auto renamed = parent.stat(partial);
        if (!renamed) return renamed.error();
        if (!*renamed || (*renamed)->symbolic_link ||
            !may_be_same_file((*renamed)->file_id, here->info.file_id)) {
            // Another directory than the one checked: it gets its name back.
            if (auto done = parent.rename(partial, clip.path); !done) return done;
            return keep(clip.path);
        }
        return clean_frames(parent, partial, clip.path, frames, here->info.file_id);
    }

    /// The frames of a sequence that are ours. Recordings have no maker: only their record says what they are.
    struct Frames {
        std::string kind;  // their extension
        std::uint64_t count = 0;
        const FrameMaker* maker = nullptr;
    };

    /// Removes the frames of a sequence and its directory. `file_id`: the id of the directory, if known.
    Result<void> clean_frames(ByteStore& parent,
                              const std::string& directory,
                              const std::string& named,
                              const Frames& frames,
                              std::uint64_t file_id = 0) {
        auto here = enter_to_clean(parent, directory);
        if (!here && !was_exchanged(parent, directory)) return here.error();
        if (!here || !may_be_same_file(here->info.file_id, file_id)) return keep(named);
        const FramePattern pattern = prepared_pattern(frames.kind);
        const auto each = [&](const DirectoryEntry& entry, const std::string& path) -> Result<void> {
            const auto number = number_in(pattern, entry.name);
            const auto file = here->files.find(entry.name);
            const bool named_so = number && *number >= kFirstFrameNumber &&
                                  *number - kFirstFrameNumber < frames.count && file != here->files.end() &&
                                  file->second.is_regular();
            if (!named_so) return keep(path);
            const auto ours = begins_as_made(*here->store, path, frames.maker, *number, entry.name);
            if (!ours) return keep_unread(path, ours.error());
            return *ours ? remove_file(*here, entry.name) : keep(path);
        };
        return clean_directory(parent, *here, each);
    }

    ByteStore& store_;
    std::uint64_t set_;
    const std::function<bool()> stopped_;
    std::optional<MediaFormat> format_;  // format of the directory that is being cleaned, if known
    std::optional<std::unique_ptr<FrameMaker>> maker_;  // the same, of the length; made for its first sequence
    CleanReport report_;
    std::set<std::string> unread_;       // those of report_.kept that could not be read
    std::vector<std::string> problems_;  // why not
};

}  // namespace

Result<CleanReport> clean_recordings_of_run(ByteStore& store,
                                            const std::string& target,
                                            const std::string& directory,
                                            const std::function<bool()>& stopped) {
    const auto confined = store.beneath(target);
    if (!confined) return confined.error();
    const auto set = read_marker(**confined, media_root(target));
    if (!set) return set.error();
    return Cleaner(**confined, set->value_or(0), stopped).clean_run(directory);
}

Result<CleanReport> clean(ByteStore& store, const std::string& target, const std::atomic<bool>* stop) {
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
    const auto confined = store.beneath(target);
    if (!confined) return confined.error();
    const auto marker = read_marker(**confined, root);
    if (!marker) return marker.error();
    const auto stopped = [stop] { return stop != nullptr && *stop; };
    if (!*marker && media_set_is_begun(**confined, root))
        return Cleaner(**confined, 0, stopped).clean_begun(root);
    if (!*marker) {
        return bad_input(fmt::format("{}: has no {}, so it is not known to be streamsim's and is left alone",
                                     root, kMarkerName));
    }
    return Cleaner(**confined, **marker, stopped).clean(root);
}

}  // namespace streamsim::media
