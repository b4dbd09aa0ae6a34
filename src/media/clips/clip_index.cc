#include "media/clips/clip_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/path.h"
#include "base/system/parallel_for.h"
#include "base/units.h"
#include "media/container/container_clip.h"
#include "media/own_files/own_names.h"
#include "media/sequence/sequence_clip.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kFoldersMax = 50'000;  // below one TARGET
constexpr std::size_t kOthersNamed = 6;      // extensions of files that are no media

constexpr std::string_view kContainerSuffixes[] = {"mov", "mp4", "m4v",  "qt", "mxf",  "mkv", "webm",
                                                   "avi", "mpg", "mpeg", "ts", "m2ts", "mts", "gxf"};

/// In lower case.
constexpr std::string_view kSystemFolders[] = {"lost+found", "#recycle",           "#snapshot",
                                               "@recycle",   "@recently-snapshot", "@eadir",
                                               "~snapshot",  "$recycle.bin",       "system volume information"};

struct Listing {
    std::vector<FoundSequence> sequences;
    std::vector<std::string> stills;  // single pictures beside media
    std::vector<std::string> containers;
    std::vector<DirectoryEntry> directories;
    std::vector<std::string> left_out;            // folders of the system
    std::map<std::string, std::uint64_t> others;  // files that are no media, by extension
};

/// Media that prepare has not finished never plays as a clip.
bool is_partial(std::string_view name) {
    return name.ends_with(kPartial);
}

/// One image of a kind that also comes as a poster or a thumbnail beside the media.
bool is_still(const FoundSequence& sequence) {
    return sequence.numbers.size() == 1 && image_kind(sequence.name(0)) == ImageKind::by_size;
}

/// An image whose name has no number: a clip of one frame.
FoundSequence alone(std::string_view name) {
    FoundSequence sequence;
    sequence.pattern = {std::string(name), 0, ""};
    sequence.numbers = {0};
    return sequence;
}

bool has_number(std::string_view name) {
    return name.find_first_of("0123456789") != std::string_view::npos;
}

Result<Listing> list_media(ByteStore& store, const std::string& directory) {
    const auto entries = store.list(directory);
    if (!entries) return entries.error();
    Listing out;
    std::vector<std::string_view> images;
    for (const DirectoryEntry& entry : *entries) {
        if (entry.name.empty() || entry.name.front() == '.') continue;
        if (entry.directory) {
            if (is_system_folder(entry.name)) {
                out.left_out.push_back(entry.name);
            } else if (entry.name != kMediaDirectory && !is_partial(entry.name)) {
                out.directories.push_back(entry);
            }
        } else if (image_kind(entry.name)) {
            images.push_back(entry.name);
        } else if (is_container_name(entry.name)) {
            out.containers.push_back(entry.name);
        } else {
            ++out.others[extension_of(entry.name)];
        }
    }
    out.sequences = group_sequences(images);
    const bool numbered = !out.sequences.empty();
    for (const std::string_view name : images) {
        if (has_number(name)) continue;
        if (numbered) {
            out.stills.emplace_back(name);
        } else {
            out.sequences.push_back(alone(name));
        }
    }
    const bool only_stills =
        out.containers.empty() && std::all_of(out.sequences.begin(), out.sequences.end(), is_still);
    if (only_stills) return out;
    for (const FoundSequence& sequence : out.sequences) {
        if (is_still(sequence)) out.stills.push_back(sequence.name(0));
    }
    std::erase_if(out.sequences, is_still);
    return out;
}

Error several_sequences(const std::string& path, const std::vector<FoundSequence>& sequences) {
    constexpr std::size_t kShown = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(kShown, sequences.size()); ++i)
        names += " " + sequences[i].pattern.show();
    return bad_input(fmt::format("{}: {} sequences in this directory, name one of them:{}{}", path,
                                 sequences.size(), names, sequences.size() > kShown ? " ..." : ""));
}

/// A frame stands for its sequence when the first and the last frame have a header like its own. Otherwise the
/// names only look like a sequence, and the user means the single file.
std::string stands_alone(ByteStore& store,
                         const std::string& directory,
                         const FoundSequence& sequence,
                         const ImageHeader& own) {
    for (const std::size_t index : {std::size_t{0}, sequence.numbers.size() - 1}) {
        const std::string other = join_path(directory, sequence.name(index));
        const auto header = read_frame_header(store, other);
        if (header && header->format != own.format)
            return fmt::format("indexed as a single file, because it is {} and {} is {}", own.format, other,
                               header->format);
    }
    return "";
}

Result<Clip> index_by_frame(ByteStore& store, const std::string& path, const IndexOptions& options) {
    const std::string directory = parent_of(path), file = base_name(path);
    const auto own = read_frame_header(store, path);
    if (!own) return own.error();
    const auto take = [&](const FoundSequence& sequence, const std::string& name) {
        return index_sequence(store, directory, sequence, name, std::nullopt, options.progress);
    };
    if (!has_number(file)) return take(alone(file), file);
    auto listing = list_media(store, directory);
    if (!listing) return listing.error();
    for (const FoundSequence& sequence : listing->sequences) {
        const auto index = index_of_name(sequence, file);
        if (!index) continue;
        const std::string why = stands_alone(store, directory, sequence, *own);
        if (why.empty()) return take(sequence, sequence.numbers.size() == 1 ? file : sequence.pattern.show());
        auto clip = take(alone(file), file);
        if (clip) clip->notes.insert(clip->notes.begin(), why);
        return clip;
    }
    return take(alone(file), file);  // hidden, a still beside other media, or digits that count nothing
}

Result<Clip> index_pattern(ByteStore& store, const std::string& path, const IndexOptions& options) {
    const std::string directory = parent_of(path), file = base_name(path);
    FoundSequence sequence;
    sequence.pattern = *parse_pattern(file);
    if (!image_kind(sequence.pattern.name(0))) {
        return bad_input(
            fmt::format("{}: unknown kind of image; expected one of {}", path, known_image_extensions()));
    }
    const auto entries = store.list(directory);
    if (!entries) return entries.error();
    for (const DirectoryEntry& entry : *entries) {
        const auto number = number_in(sequence.pattern, entry.name);
        if (number && !entry.directory) sequence.numbers.push_back(*number);
    }
    if (sequence.numbers.empty()) {
        std::string there;
        if (const auto listing = list_media(store, directory)) {
            for (const FoundSequence& other : listing->sequences) {
                if (there.size() < 200) there += (there.empty() ? "; there is " : ", ") + other.pattern.show();
            }
        }
        return bad_input(fmt::format("{}: no file has a name of this pattern{}", path, there));
    }
    std::sort(sequence.numbers.begin(), sequence.numbers.end());
    return index_sequence(store, directory, sequence, file, std::nullopt, options.progress);
}

/// Collects the clips of a folder. Files that are broken, have no picture (the audio beside the video of an
/// Avid folder) or are inaccessible, and further names of one file, are left out, with a note.
class Folder {
public:
    /// `file`: that of a container. Errors: interrupted, and those of the environment that may concern other
    /// files, too.
    Result<void> add(Result<Clip> clip, const FileInfo& file) {
        if (clip) {
            const std::string path = clip->index->path_of(0);
            if (const std::string first = first_name(file, path); first != path) {
                skip(fmt::format("{}: the same file as {}, by a link", path, first));
            } else {
                clips_.push_back(std::move(*clip));
            }
            return {};
        }
        const Error& error = clip.error();
        if (error.kind != ErrorKind::bad_input && !error.inaccessible) return error;
        if (error.inaccessible) kind_ = error.kind;
        problems_.insert(problems_.end(), error.problems.begin(), error.problems.end());
        return {};
    }

    std::size_t clips() const { return clips_.size(); }

    void skip(std::string what) { skipped_.push_back(std::move(what)); }

    /// In name order; what was left out is listed at the first, which is always played. Errors: with every
    /// problem when no clip is left: environment if a file was inaccessible, else bad input.
    Result<std::vector<Clip>> finish() {
        if (clips_.empty() && !problems_.empty()) return Error{kind_, std::move(problems_)};
        std::sort(clips_.begin(), clips_.end(), [](const Clip& a, const Clip& b) { return a.name < b.name; });
        if (clips_.empty()) return std::move(clips_);
        auto& skipped = clips_.front().skipped;
        skipped = std::move(problems_);
        skipped.insert(skipped.end(), skipped_.begin(), skipped_.end());
        if (skipped.size() > kSkippedNamed) {
            const std::size_t more = skipped.size() - kSkippedNamed;
            skipped.resize(kSkippedNamed);
            skipped.push_back(fmt::format("{} more files", show_count(more)));
        }
        return std::move(clips_);
    }

private:
    static constexpr std::size_t kSkippedNamed = 1000;

    struct Named {
        std::string path;
        bool linked = false;
    };

    /// The path at which the file was found first. Without a link, files of equal ids are on two file systems.
    std::string first_name(const FileInfo& file, const std::string& path) {
        if (file.file_id == 0) return path;
        const bool linked = file.symbolic_link || file.links > 1;
        const std::tuple id(file.file_id, file.bytes, file.modified_s);
        const Named& first = files_.emplace(id, Named{path, linked}).first->second;
        return linked || first.linked ? first.path : path;
    }

    std::vector<Clip> clips_;
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::int64_t>, Named> files_;  // containers
    ErrorKind kind_ = ErrorKind::bad_input;  // of the error when no clip is left
    std::vector<std::string> problems_;
    std::vector<std::string> skipped_;  // whole files that are no clip
};

void skip_stills(const std::string& directory, const std::vector<std::string>& stills, Folder& folder) {
    for (const std::string& name : stills)
        folder.skip(fmt::format("{}: one still picture, no numbered sequence", join_path(directory, name)));
}

/// The second argument becomes the file of a container.
using IndexJob = std::function<Result<Clip>(const IndexOptions&, FileInfo&)>;

/// The sequences of one directory; each has its pattern in its name where the directory alone does not say
/// which. `store` and `sequences` outlive the jobs.
void add_sequences(ByteStore& store,
                   const std::string& directory,
                   const std::string& name,
                   const std::vector<FoundSequence>& sequences,
                   std::vector<IndexJob>& jobs) {
    const bool only = !name.empty() && sequences.size() == 1;
    for (const FoundSequence& sequence : sequences) {
        jobs.push_back(
            [&store, directory, &sequence, shown = only ? name : join_path(name, sequence.pattern.show())](
                const IndexOptions& options, FileInfo&) {
                return index_sequence(store, directory, sequence, shown, std::nullopt, options.progress);
            });
    }
}

/// A directory and the folders below it.
class FolderSearch {
public:
    /// `store` outlives the search, and the search its jobs.
    FolderSearch(ByteStore& store, std::string directory, const IndexOptions& options)
        : store_(store), directory_(std::move(directory)), options_(options) {}

    /// Errors: the store's, for the directory itself; bad input: too many folders; interrupted.
    Result<void> list() {
        std::vector<Found> level(1);
        for (int depth = 0; !level.empty(); ++depth) {
            std::vector<std::optional<Result<Listing>>> listings(level.size());
            parallel_for(level.size(), [&](std::size_t i) {
                if (options_.progress == nullptr || !options_.progress->cancelled())
                    listings[i] = list_media(store_, join_path(directory_, level[i].name));
            });
            std::vector<Found> below;
            for (std::size_t i = 0; i < level.size(); ++i) {
                if (!listings[i]) return interrupted_error();
                if (!*listings[i]) {
                    if (depth == 0) return listings[i]->error();
                    unreadable_.push_back(listings[i]->error());
                    continue;
                }
                level[i].listing = std::move(**listings[i]);
                add_below(level[i], below);
                found_.push_back(std::move(level[i]));
            }
            if (depth >= options_.depth) {
                left_ = below.size();
                break;
            }
            if (found_.size() + below.size() > kFoldersMax)
                return bad_input(
                    fmt::format("{}: more than {} folders: name one nearer to the clips, or how many "
                                "levels to search with --depth",
                                directory_, show_count(kFoldersMax)));
            if (!below.empty()) levels_ = static_cast<std::uint64_t>(depth) + 1;
            level = std::move(below);
        }
        leave_out_doubles();
        return {};
    }

    /// A job for each clip; what is no clip goes to `folder`.
    void add_jobs(std::vector<IndexJob>& jobs, Folder& folder) {
        for (const Found& found : found_) {
            const std::string path = join_path(directory_, found.name);
            skip_stills(path, found.listing.stills, folder);
            add_sequences(store_, path, found.name, found.listing.sequences, jobs);
            for (const std::string& name : found.listing.containers) {
                jobs.push_back([&store = store_, path = join_path(path, name),
                                shown = join_path(found.name, name)](const IndexOptions& own, FileInfo& file) {
                    return index_container(store, path, shown, own, &file);
                });
            }
        }
        for (const Error& error : unreadable_) folder.skip(error.problems.front());
    }

    /// The first folder that could not be listed; null: none.
    const Error* unreadable() const { return unreadable_.empty() ? nullptr : &unreadable_.front(); }

    /// "12 clips in 40 folders, 3 levels deep; other files: 12 .xml, 4 .wav"; empty if there is nothing to say.
    std::string summary(std::size_t clips) const {
        std::map<std::string, std::uint64_t> others;
        std::set<std::string> left_out;
        for (const Found& found : found_) {
            for (const auto& [extension, count] : found.listing.others) others[extension] += count;
            left_out.insert(found.listing.left_out.begin(), found.listing.left_out.end());
        }
        const bool plain = found_.size() == 1 && left_ == 0 && links_ == 0 && doubles_ == 0;
        if (plain && left_out.empty() && others.empty()) return {};
        std::string out = counted(clips, "clip");
        if (levels_ > 0)
            out += fmt::format(" in {}, {} deep", counted(found_.size(), "folder"), counted(levels_, "level"));
        if (left_ > 0)
            out += fmt::format("; {} below {} not searched (--depth)", counted(left_, "folder"),
                               counted(static_cast<std::uint64_t>(options_.depth), "level"));
        if (links_ > 0) out += fmt::format("; {} to folders not followed", counted(links_, "link"));
        if (doubles_ > 0) out += fmt::format("; {} found twice, by links", counted(doubles_, "folder"));
        for (const std::string& name : left_out)
            out += (name == *left_out.begin() ? "; not searched: " : ", ") + name;
        std::size_t named = 0;
        for (const auto& [extension, count] : others) {
            if (++named > kOthersNamed) return out + ", ...";
            out += fmt::format("{}{} {}", named == 1 ? "; other files: " : ", ", show_count(count),
                               extension.empty() ? "without extension" : "." + extension);
        }
        return out;
    }

private:
    struct Found {
        std::string name;     // below the directory; empty: itself
        bool linked = false;  // a link leads to it
        Listing listing;
    };

    /// A link below TARGET often shows folders that are found without it ("current"), or leads up: the same
    /// media would be played twice, and come from a cache.
    void add_below(const Found& folder, std::vector<Found>& below) {
        for (const DirectoryEntry& entry : folder.listing.directories) {
            if (entry.symbolic_link && !folder.name.empty()) {
                ++links_;
                continue;
            }
            below.push_back({join_path(folder.name, entry.name), folder.linked || entry.symbolic_link, {}});
        }
    }

    /// A link of the directory may lead to one of its own folders.
    void leave_out_doubles() {
        if (std::ranges::none_of(found_, &Found::linked)) return;
        std::set<std::pair<std::uint64_t, std::int64_t>> known;
        std::deque<Found> kept;
        for (const bool linked : {false, true}) {
            for (Found& found : found_) {
                if (found.linked != linked) continue;
                const auto info = store_.stat(join_path(directory_, found.name));
                const bool is_known = info && *info && (*info)->file_id != 0;
                if (is_known && !known.insert({(*info)->file_id, (*info)->modified_s}).second) {
                    ++doubles_;
                } else {
                    kept.push_back(std::move(found));
                }
            }
        }
        found_ = std::move(kept);
    }

    ByteStore& store_;
    const std::string directory_;
    const IndexOptions& options_;
    std::deque<Found> found_;  // jobs point at its sequences
    std::vector<Error> unreadable_;
    std::uint64_t levels_ = 0;
    std::uint64_t links_ = 0;    // to folders, not followed
    std::uint64_t doubles_ = 0;  // folders that links lead to and that are there without them
    std::size_t left_ = 0;       // folders deeper than was asked for
};

Result<std::vector<Clip>> index_all(const std::vector<IndexJob>& jobs,
                                    const IndexOptions& options,
                                    Folder& folder) {
    std::vector<std::optional<Result<Clip>>> results(jobs.size());
    std::vector<FileInfo> files(jobs.size());
    const bool several = options.progress != nullptr && jobs.size() > 1;
    if (several) options.progress->clips_total = jobs.size();
    parallel_for(jobs.size(), [&](std::size_t i) {
        IndexProgress of_one;
        of_one.whole = options.progress;
        IndexOptions own = options;
        if (several) own.progress = &of_one;
        results[i] = of_one.cancelled() ? Result<Clip>(interrupted_error()) : jobs[i](own, files[i]);
        if (several) ++options.progress->clips_done;
    });
    if (options.progress != nullptr && options.progress->cancelled()) return interrupted_error();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (auto added = folder.add(std::move(*results[i]), files[i]); !added) return added.error();
    }
    return folder.finish();
}

/// The one clip of a directory that can be played: to inspect an Avid folder is to inspect its video.
Result<Clip> only_container(ByteStore& store,
                            const std::string& path,
                            const std::vector<std::string>& containers,
                            const IndexOptions& options) {
    Folder folder;
    for (const std::string& name : containers) {
        FileInfo file;
        auto clip = index_container(store, join_path(path, name), name, options, &file);
        if (auto added = folder.add(std::move(clip), file); !added) return added.error();
        if (folder.clips() > 1) {
            return bad_input(
                fmt::format("{}: {} files in this directory can be clips, name one of them: {} ...", path,
                            containers.size(), containers.front()));
        }
    }
    auto clips = folder.finish();
    if (!clips) return clips.error();
    return std::move(clips->front());
}

Result<Clip> index_directory(ByteStore& store, const std::string& path, const IndexOptions& options) {
    auto listing = list_media(store, path);
    if (!listing) return listing.error();
    const auto& sequences = listing->sequences;
    if (sequences.size() == 1) {
        return index_sequence(store, path, sequences.front(), base_name(path), std::nullopt, options.progress);
    }
    if (!sequences.empty()) return several_sequences(path, sequences);
    if (!listing->containers.empty()) return only_container(store, path, listing->containers, options);
    if (const auto prepared = store.stat(media_root(path)); prepared && *prepared && (*prepared)->directory) {
        return bad_input(fmt::format(
            "{}: there is no clip in this directory; name one of its prepared clips: {}/FORMAT/.../clip-0001, "
            "clip-0001.mov or clip-0001.mxf",
            path, media_root(path)));
    }
    return bad_input(fmt::format("{}: there is no image sequence in this directory; expected one of {}", path,
                                 known_image_extensions()));
}

}  // namespace

Result<Clip> index_clip(ByteStore& store, const std::string& given, const IndexOptions& options) {
    std::string path = given;
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    const std::string directory = parent_of(path);
    if (is_partial(path) || is_partial(directory)) {
        return bad_input(fmt::format("{}: prepare was interrupted while it wrote this; run it again", path));
    }
    auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info) {
        if (is_pattern(path)) return index_pattern(store, path, options);
        return environment_error(fmt::format("{}: no such file or directory", path));
    }
    if ((*info)->directory) return index_directory(store, path, options);
    if (image_kind(base_name(path))) return index_by_frame(store, path, options);
    return index_container(store, path, base_name(path), options);
}

Result<std::vector<Clip>> clips_in(ByteStore& store,
                                   const std::string& directory,
                                   const IndexOptions& options) {
    FolderSearch search(store, directory, options);
    if (auto listed = search.list(); !listed) return listed.error();
    Folder folder;
    std::vector<IndexJob> jobs;
    search.add_jobs(jobs, folder);
    auto clips = index_all(jobs, options, folder);
    if (clips && clips->empty() && search.unreadable()) return *search.unreadable();
    if (clips && !clips->empty()) clips->front().searched = search.summary(clips->size());
    return clips;
}

bool is_container_name(const std::string& name) {
    return std::find(std::begin(kContainerSuffixes), std::end(kContainerSuffixes), extension_of(name)) !=
           std::end(kContainerSuffixes);
}

bool is_image_name(const std::string& name) {
    return image_kind(name).has_value();
}

bool is_system_folder(std::string_view name) {
    return std::find(std::begin(kSystemFolders), std::end(kSystemFolders), to_lower(name)) !=
           std::end(kSystemFolders);
}

bool is_pattern(std::string_view path) {
    return parse_pattern(base_name(path)).has_value();
}

}  // namespace streamsim::media
