#include "media/cuts/clip_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/path.h"
#include "media/clips/clip_index.h"
#include "media/own_files/own_names.h"
#include "media/sequence/sequence_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kSeparators = "._- ";
constexpr std::size_t kReelPrefixMin = 4;

/// The components of a path; Windows writes them with backslashes.
std::vector<std::string> components(std::string_view path) {
    std::vector<std::string> out;
    while (!path.empty()) {
        const std::size_t end = path.find_first_of("/\\");
        if (end != 0 && path.substr(0, end) != ".") out.emplace_back(path.substr(0, end));
        if (end == std::string_view::npos) break;
        path.remove_prefix(end + 1);
    }
    return out;
}

std::string without_separators(std::string text) {
    while (!text.empty() && kSeparators.find(text.back()) != std::string_view::npos) text.pop_back();
    return text;
}

std::string stem_of(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

std::string frame_key(const std::string& prefix, const std::string& suffix) {
    return to_lower(prefix) + '\n' + to_lower(suffix);
}

/// "shot.[0086400-0086500].dpx", as Resolve writes a sequence: its first frame.
std::string first_of_range(const std::string& name) {
    const std::size_t open = name.find('[');
    const std::size_t dash = name.find('-', open == std::string::npos ? 0 : open);
    const std::size_t close = name.find(']', dash == std::string::npos ? 0 : dash);
    if (open == std::string::npos || dash == std::string::npos || close == std::string::npos) return name;
    return name.substr(0, open) + name.substr(open + 1, dash - open - 1) + name.substr(close + 1);
}

/// Number of components that agree, counted from the last one.
int agreeing(const std::vector<std::string>& wanted, const std::vector<std::string>& there) {
    int count = 0;
    for (auto a = wanted.rbegin(), b = there.rbegin(); a != wanted.rend() && b != there.rend();
         ++a, ++b, ++count) {
        if (to_lower(*a) != to_lower(*b)) break;
    }
    return count;
}

}  // namespace

Result<ClipFinder> ClipFinder::list_below(ByteStore& store, const std::string& target, int depth_max) {
    ClipFinder finder;
    finder.depth_max_ = depth_max;
    std::string path = target;
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    auto info = store.stat(path);
    if (!info) return info.error();
    const bool directory = *info && (*info)->directory;
    if (!*info && !is_pattern(path))
        return environment_error(fmt::format("{}: no such file or directory", path));
    Folder root;
    std::string only;
    root.path = path;
    if (!directory) {
        only = base_name(path);
        root.path = parent_of(path);
    }
    root.parts = components(root.path);
    root.ours = std::find(root.parts.begin(), root.parts.end(), kMediaDirectory) != root.parts.end();
    finder.target_ = root.path;
    finder.named_ = !directory;
    std::vector<Folder> todo = {root};
    while (!todo.empty()) {
        const Folder folder = std::move(todo.back());
        todo.pop_back();
        std::vector<Folder> below;
        if (auto added = finder.add_folder(store, folder, only, below); !added) return added.error();
        if (!only.empty()) break;
        todo.insert(todo.end(), below.rbegin(), below.rend());
    }
    return finder;
}

Result<void> ClipFinder::add_folder(ByteStore& store,
                                    const Folder& folder,
                                    const std::string& only,
                                    std::vector<Folder>& below) {
    auto entries = store.list(folder.path);
    if (!entries) {
        if (folder.depth == 0) return entries.error();
        return {};  // no permission: clips below are not found
    }
    std::vector<std::string> images;
    for (const DirectoryEntry& entry : *entries) {
        if (entry.name.empty() || entry.name.front() == '.' || entry.name.ends_with(kPartial)) continue;
        if (entry.directory) {
            if (is_system_folder(entry.name) || folder.depth >= depth_max_ ||
                (folder.linked && entry.symbolic_link))
                continue;
            Folder inside = folder;
            inside.path = join_path(folder.path, entry.name);
            inside.parts.push_back(entry.name);
            ++inside.depth;
            inside.linked = folder.linked || entry.symbolic_link;
            inside.ours = folder.ours || entry.name == kMediaDirectory;
            below.push_back(std::move(inside));
        } else if (is_image_name(entry.name)) {
            images.push_back(entry.name);
        } else if (is_container_name(entry.name) || entry.name == only) {
            if (only.empty() || entry.name == only) add_container(folder, entry.name);
        }
    }
    add_sequences(folder, images, only);
    return {};
}

void ClipFinder::add_container(const Folder& folder, const std::string& name) {
    const std::size_t clip = clips_.size();
    const std::string path = join_path(folder.path, name);
    clips_.push_back({path, path.substr(join_path(target_, "").size()), folder.ours});
    names_.emplace(to_lower(name), Key{clip, folder.parts, name, folder.linked});
    stems_.emplace(to_lower(stem_of(name)), Key{clip, folder.parts, stem_of(name), folder.linked});
}

void ClipFinder::add_sequences(const Folder& folder,
                               const std::vector<std::string>& images,
                               const std::string& only) {
    const std::vector<std::string_view> names(images.begin(), images.end());
    std::vector<FoundSequence> sequences = group_sequences(names);
    if (!only.empty()) {
        const auto pattern = parse_pattern(only);
        std::erase_if(sequences, [&](const FoundSequence& found) {
            if (pattern)
                return pattern->prefix != found.pattern.prefix || pattern->suffix != found.pattern.suffix;
            return !index_of_name(found, only);
        });
    }
    for (const FoundSequence& sequence : sequences) {
        const FramePattern& pattern = sequence.pattern;
        const std::size_t clip = clips_.size();
        const bool typed = (pattern.prefix + pattern.suffix).find_first_of("%#") == std::string::npos;
        const std::string shown = join_path(folder.path, typed ? pattern.show() : sequence.name(0));
        // A pattern that is the target means the files that it names, and not those beside them.
        const bool by_pattern = is_pattern(only) || (sequence.names.empty() && sequence.other_case.empty());
        const std::string path = by_pattern ? shown : join_path(folder.path, sequence.name(0));
        std::string name = shown.substr(join_path(target_, "").size());
        if (sequences.size() == 1 && only.empty() && !folder.parts.empty())
            name = folder.depth == 0 ? folder.parts.back() : folder.path.substr(join_path(target_, "").size());
        clips_.push_back({path, name, folder.ours});
        const std::string stem = without_separators(pattern.prefix);
        frames_.emplace(frame_key(pattern.prefix, pattern.suffix),
                        Key{clip, folder.parts, pattern.prefix, folder.linked});
        if (!stem.empty()) stems_.emplace(to_lower(stem), Key{clip, folder.parts, stem, folder.linked});
        if (folder.parts.empty()) continue;
        std::vector<std::string> parents(folder.parts.begin(), folder.parts.end() - 1);
        names_.emplace(to_lower(folder.parts.back()), Key{clip, parents, folder.parts.back(), folder.linked});
    }
}

bool ClipFinder::target_is_clip() const {
    if (clips_.size() != 1) return false;
    return named_ || (!frames_.empty() && parent_of(clips_.front().path) == target_);
}

/// Looks for the clips of one name; a smaller rank is better.
class ClipFinder::Search {
public:
    Search(const ClipFinder& among, std::vector<std::string> components) : among_(among) {
        base = first_of_range(components.back());
        components.pop_back();
        parents_ = std::move(components);
    }

    void by_name() {
        offer(among_.names_, to_lower(base), 0);
        if (const auto pattern = parse_pattern(base)) offer_frames(pattern->prefix, pattern->suffix, 0);
        if (is_image_name(base)) {
            for (std::size_t from = 0; from < base.size();) {
                std::size_t to = from;
                while (to < base.size() && is_digit(base[to])) ++to;
                if (to > from) offer_frames(base.substr(0, from), base.substr(to), 0);
                from = to + 1;
            }
            const std::size_t dot = base.rfind('.');  // "shot.dpx" for "shot.0001.dpx"
            for (const char* separator : {"", ".", "_", "-", " "})
                offer_frames(base.substr(0, dot) + separator, base.substr(dot), 1);
        }
        const std::string stem = without_separators(base);
        if (!stem.empty()) offer(among_.stems_, to_lower(stem), 1);
    }

    void by_stem() {
        if (!is_container_name(base) && !is_image_name(base)) return;
        const std::string stem = to_lower(without_separators(stem_of(base)));
        offer(among_.stems_, stem, 3);
        offer(among_.names_, stem, 3);
    }

    /// "A001C002" is the reel of "A001C002_190523_R5GE.mov".
    void by_reel() {
        const std::string key = to_lower(base);
        if (key.size() < kReelPrefixMin) return;
        for (const auto* keys : {&among_.stems_, &among_.names_}) {
            for (auto it = keys->lower_bound(key); it != keys->end() && it->first.starts_with(key); ++it) {
                if (it->first.size() > key.size() &&
                    kSeparators.find(it->first[key.size()]) != std::string_view::npos)
                    offer(*keys, it->first, 4);
            }
        }
    }

    std::string base;
    std::vector<std::size_t> clips;  // the best so far

private:
    /// `tier` ranks the kinds of match; within a tier, more of the path, the same case, and no link are better.
    void offer(const std::multimap<std::string, Key>& keys, const std::string& key, int tier) {
        const auto [begin, end] = keys.equal_range(key);
        for (auto it = begin; it != end; ++it) {
            const Key& found = it->second;
            const bool other_case = base.find(found.base) == std::string::npos;
            const std::tuple rank(tier, -agreeing(parents_, found.parents), other_case, found.linked);
            if (rank > rank_) continue;
            if (rank < rank_) clips.clear();
            rank_ = rank;
            if (std::find(clips.begin(), clips.end(), found.clip) == clips.end()) clips.push_back(found.clip);
        }
    }
    void offer_frames(const std::string& prefix, const std::string& suffix, int tier) {
        offer(among_.frames_, frame_key(prefix, suffix), tier);
    }

    const ClipFinder& among_;
    std::vector<std::string> parents_;
    std::tuple<int, int, bool, bool> rank_{INT32_MAX, 0, false, false};
};

/// Keeps, of equally good clips, those in a directory with the reel's name.
static void prefer_reel(const std::vector<FoundClip>& clips,
                        const std::string& reel,
                        std::vector<std::size_t>& among) {
    if (among.size() < 2 || reel.empty()) return;
    std::vector<std::size_t> inside;
    for (const std::size_t clip : among) {
        const auto parts = components(clips[clip].path);
        const auto same = [&](const std::string& part) { return to_lower(part) == to_lower(reel); };
        if (std::any_of(parts.begin(), parts.end(), same)) inside.push_back(clip);
    }
    if (!inside.empty()) among = std::move(inside);
}

ClipFinder::Answer ClipFinder::find(const EditMedia& media) const {
    std::vector<std::vector<std::string>> wanted;
    for (const std::string* text : {&media.file, &media.name, &media.reel}) {
        const bool reel = text == &media.reel;
        if (reel && (to_lower(*text) == "ax" || to_lower(*text) == "bl")) continue;
        if (auto parts = components(*text); !parts.empty()) wanted.push_back(std::move(parts));
    }
    Answer answer;
    for (const auto look_up : {&Search::by_name, &Search::by_stem}) {
        for (const auto& parts : wanted) {
            Search search(*this, parts);
            (search.*look_up)();
            if (search.clips.empty()) continue;
            prefer_reel(clips_, media.reel, search.clips);
            answer.clips = search.clips;
            if (look_up == &Search::by_stem && answer.clips.size() == 1)
                answer.note =
                    fmt::format("{} taken for \"{}\"", clips_[answer.clips.front()].name, search.base);
            return answer;
        }
    }
    if (!media.reel.empty() && !wanted.empty()) {
        Search search(*this, wanted.back());
        search.by_reel();
        answer.clips = search.clips;
        if (answer.clips.size() == 1)
            answer.note =
                fmt::format("{} taken for reel \"{}\"", clips_[answer.clips.front()].name, media.reel);
    }
    return answer;
}

}  // namespace streamsim::media
