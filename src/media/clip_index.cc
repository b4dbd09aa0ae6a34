#include "media/clip_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "media/container_clip.h"
#include "media/media_set.h"
#include "media/media_set_names.h"
#include "media/sequence_clip.h"

namespace streamsim {
namespace {

constexpr std::string_view kContainers[] = {"mov", "mp4", "m4v",  "qt", "mxf",  "mkv", "webm",
                                            "avi", "mpg", "mpeg", "ts", "m2ts", "mts", "gxf"};
/// Images that come as sequences and that are not DPX.
constexpr std::string_view kOtherImages[] = {"exr", "tif", "tiff", "cin", "png", "jpg", "jpeg", "jp2",
                                             "j2k", "j2c", "dng",  "ari", "arx", "tga", "sgi",  "rgb"};

template <std::size_t N>
bool is_one_of(const std::string& extension, const std::string_view (&list)[N]) {
    return std::find(std::begin(list), std::end(list), extension) != std::end(list);
}

bool is_other_image(const std::string& name) {
    return is_one_of(extension_of(name), kOtherImages);
}

Error only_dpx(const std::string& path) {
    return bad_input(fmt::format("{}: only DPX image sequences can be played so far", path));
}

/// What of a directory can be a clip.
struct Listing {
    std::vector<FoundSequence> sequences;
    std::vector<std::string> containers;
    std::vector<std::string> directories;
    std::string other_image;  // the first one; empty: none
};

/// What prepare has not finished never plays as a clip.
bool is_partial(std::string_view name) {
    return name.ends_with(kPartial);
}

Result<Listing> look_into(ByteStore& store, const std::string& directory) {
    auto entries = store.list(directory);
    if (!entries) return entries.error();
    Listing out;
    std::vector<std::string> images;
    for (const DirectoryEntry& entry : *entries) {
        if (entry.name.empty() || entry.name.front() == '.') continue;
        const std::string extension = extension_of(entry.name);
        if (entry.directory) {
            // lost+found belongs to the file system, and only root may look into it
            if (entry.name != kMediaDirectory && entry.name != "lost+found" && !is_partial(entry.name))
                out.directories.push_back(entry.name);
        } else if (extension == "dpx") {
            images.push_back(entry.name);
        } else if (is_one_of(extension, kContainers)) {
            out.containers.push_back(entry.name);
        } else if (out.other_image.empty() && is_other_image(entry.name)) {
            out.other_image = entry.name;
        }
    }
    out.sequences = group_sequences(images);
    return out;
}

Result<Clip> index_directory(ByteStore& store, const std::string& path) {
    auto listing = look_into(store, path);
    if (!listing) return listing.error();
    const auto& sequences = listing->sequences;
    if (sequences.size() == 1) return index_sequence(store, path, sequences.front(), base_name(path));
    if (sequences.empty()) {
        if (!listing->other_image.empty()) return only_dpx(join_path(path, listing->other_image));
        return bad_input(fmt::format("{}: there is no DPX sequence in this directory", path));
    }
    constexpr std::size_t kShown = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(kShown, sequences.size()); ++i)
        names += " " + sequences[i].pattern.show();
    return bad_input(fmt::format("{}: {} sequences in this directory, name one of them:{}{}", path,
                                 sequences.size(), names, sequences.size() > kShown ? " ..." : ""));
}

struct SplitPath {
    std::string directory;  // "." when there is none in the path
    std::string name;
};

SplitPath split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// The sequence that one of its frames stands for.
Result<Clip> index_by_frame(ByteStore& store, const std::string& path) {
    const SplitPath at = split(path);
    auto listing = look_into(store, at.directory);
    if (!listing) return listing.error();
    for (const FoundSequence& sequence : listing->sequences) {
        const auto number = number_in(sequence.pattern, at.name);
        if (!number || !std::binary_search(sequence.numbers.begin(), sequence.numbers.end(), *number)) continue;
        return index_sequence(store, at.directory, sequence, sequence.pattern.show());
    }
    return bad_input(fmt::format("{}: its name has no frame number, so it is not a frame of a sequence", path));
}

Result<Clip> index_pattern(ByteStore& store, const std::string& path) {
    const SplitPath at = split(path);
    FoundSequence sequence{*parse_pattern(at.name), {}};
    if (extension_of(at.name) != "dpx") return only_dpx(path);
    auto entries = store.list(at.directory);
    if (!entries) return entries.error();
    for (const DirectoryEntry& entry : *entries) {
        const auto number = number_in(sequence.pattern, entry.name);
        if (number && !entry.directory) sequence.numbers.push_back(*number);
    }
    if (sequence.numbers.empty()) return bad_input(fmt::format("{}: no file has a name of this pattern", path));
    std::sort(sequence.numbers.begin(), sequence.numbers.end());
    return index_sequence(store, at.directory, sequence, at.name);
}

/// The sequences of one directory; each has its pattern in its name where the directory alone does not say
/// which.
Result<void> add_sequences(ByteStore& store,
                           const std::string& directory,
                           const std::string& name,
                           const std::vector<FoundSequence>& sequences,
                           std::vector<Clip>& clips) {
    const bool alone = !name.empty() && sequences.size() == 1;
    for (const FoundSequence& sequence : sequences) {
        auto clip =
            index_sequence(store, directory, sequence, alone ? name : join_path(name, sequence.pattern.show()));
        if (!clip) return clip.error();
        clips.push_back(std::move(*clip));
    }
    return {};
}

}  // namespace

Result<Clip> index_clip(ByteStore& store, const std::string& given, const IndexOptions& options) {
    std::string path = given;
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    const std::string directory = path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    if (is_partial(path) || is_partial(directory)) {
        return bad_input(fmt::format("{}: prepare was interrupted while it wrote this; run it again", path));
    }
    auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info) {
        if (is_pattern(path)) return index_pattern(store, path);
        return environment_error(fmt::format("{}: no such file or directory", path));
    }
    if ((*info)->directory) return index_directory(store, path);
    if (extension_of(path) == "dpx") return index_by_frame(store, path);
    if (is_other_image(base_name(path))) return only_dpx(path);
    return index_container(store, path, base_name(path), options);
}

Result<std::vector<Clip>> clips_in(ByteStore& store,
                                   const std::string& directory,
                                   const IndexOptions& options) {
    auto top = look_into(store, directory);
    if (!top) return top.error();
    std::vector<Clip> clips;
    std::string other_image = top->other_image.empty() ? "" : join_path(directory, top->other_image);
    if (auto added = add_sequences(store, directory, "", top->sequences, clips); !added) return added.error();
    for (const std::string& name : top->containers) {
        auto clip = index_container(store, join_path(directory, name), name, options);
        if (!clip) return clip.error();
        clips.push_back(std::move(*clip));
    }
    for (const std::string& name : top->directories) {
        const std::string below = join_path(directory, name);
        auto listing = look_into(store, below);
        if (!listing) return listing.error();
        if (other_image.empty() && !listing->other_image.empty())
            other_image = join_path(below, listing->other_image);
        if (auto added = add_sequences(store, below, name, listing->sequences, clips); !added)
            return added.error();
    }
    if (clips.empty() && !other_image.empty()) return only_dpx(other_image);
    std::sort(clips.begin(), clips.end(), [](const Clip& a, const Clip& b) { return a.name < b.name; });
    return clips;
}

bool is_container_name(const std::string& name) {
    return is_one_of(extension_of(name), kContainers);
}

bool is_image_name(const std::string& name) {
    return extension_of(name) == "dpx" || is_other_image(name);
}

bool is_pattern(std::string_view path) {
    return parse_pattern(base_name(path)).has_value();
}

}  // namespace streamsim
