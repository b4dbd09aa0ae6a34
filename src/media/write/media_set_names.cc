#include "media/write/media_set_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/ascii.h"
#include "base/path.h"
#include "base/prng.h"
#include "media/catalogue/catalogue.h"
#include "media/frames/frame_maker.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/document_file.h"
#include "media/own_files/own_names.h"
#include "media/write/media_lock.h"
#include "media/write/media_set.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kMarkerSchema = "streamsim.media-set";
constexpr std::string_view kIdentitySchema = "streamsim.media-identity";
constexpr std::string_view kLengthSuffix = "-frames";
constexpr std::string_view kClipPrefix = "clip-";
constexpr MediaFormat::Container kFiles[] = {MediaFormat::Container::quicktime, MediaFormat::Container::mp4,
                                             MediaFormat::Container::mxf};

bool take_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

Result<std::uint64_t> parse_marker(const std::string& text, const std::string& path) {
    const auto document = parse_json(text, path);
    if (!document) return document.error();
    JsonProblems problems(path);
    JsonObject top(*document, "", problems);
    check_schema(top, kMarkerSchema, kDocumentVersion);
    const auto id = top.string("id");
    const auto value = id ? parse_id(*id) : std::nullopt;
    if (id && !value) top.problem("id", "expected 16 hexadecimal digits");
    top.finish();
    if (!problems.empty()) return problems.error();
    return *value;
}

}  // namespace

Result<bool> directory_exists(ByteStore& store, const std::string& directory) {
    const auto info = store.stat(directory);
    if (!info) return info.error();
    if (!*info || ((*info)->directory && !(*info)->symbolic_link)) return info->has_value();
    return environment_error(
        fmt::format("{}: found {}, expected a directory that streamsim made: it is left alone", directory,
                    (*info)->symbolic_link ? "a symbolic link" : "a file"));
}

Result<std::set<std::string>> names_in(ByteStore& store, const std::string& directory) {
    std::set<std::string> names;
    const auto info = store.stat(directory);
    if (!info) return info.error();
    if (!*info) return names;
    const auto entries = store.list(directory);
    if (!entries) return entries.error();
    for (const DirectoryEntry& entry : *entries) names.insert(entry.name);
    return names;
}

std::string length_name(std::uint64_t frames) {
    return fmt::format("{}{}", frames, kLengthSuffix);
}

std::optional<std::uint64_t> length_in(std::string_view name) {
    std::string_view digits = name;
    if (!take_suffix(digits, kLengthSuffix)) return std::nullopt;
    const auto frames = whole_number<std::uint64_t>(digits);
    if (!frames || *frames == 0 || *frames > kClipFramesMax || length_name(*frames) != name)
        return std::nullopt;
    return frames;
}

std::string ClipName::text() const {
    return fmt::format("{}{:04}{}{}", kClipPrefix, number, container_extension(container),
                       partial ? ending : "");
}

std::optional<ClipName> clip_name_in(std::string_view name) {
    ClipName out;
    std::string_view digits = name;
    out.partial = take_partial(digits);
    if (out.partial) out.ending = name.substr(digits.size());
    for (const MediaFormat::Container each : kFiles)
        if (take_suffix(digits, container_extension(each))) out.container = each;
    if (!digits.starts_with(kClipPrefix)) return std::nullopt;
    digits.remove_prefix(kClipPrefix.size());
    const auto number = whole_number<std::uint32_t>(digits);
    if (!number || *number == 0) return std::nullopt;
    out.number = *number;
    if (out.text() != name) return std::nullopt;
    return out;
}

Result<std::optional<std::uint64_t>> read_marker(ByteStore& store, const std::string& root) {
    const auto info = store.stat(root);
    if (!info) return info.error();
    if (!*info) return std::optional<std::uint64_t>();
    if ((*info)->symbolic_link) {
        return bad_input(fmt::format(
            "{}: is a symbolic link, expected the directory that prepare makes; it is left alone", root));
    }
    if (!(*info)->directory) return bad_input(fmt::format("{}: is not a directory", root));
    const auto entries = store.list(root);
    if (!entries) return entries.error();
    bool only_unfinished = true;
    for (const DirectoryEntry& entry : *entries) {
        if (entry.name == kMarkerName && !entry.directory) {
            const std::string path = join_path(root, kMarkerName);
            const auto text = read_text(store, path);
            if (!text) return text.error();
            const auto id = parse_marker(*text, path);
            if (!id) return id.error();
            return std::optional(*id);
        }
        std::string_view name = entry.name;
        if (is_lock_name(name)) continue;
        const bool unfinished = take_partial(name) || take_removing(name);
        if (!unfinished || (name != kMarkerName && !is_lock_name(name))) only_unfinished = false;
    }
    if (only_unfinished) return std::optional<std::uint64_t>();
    return bad_input(
        fmt::format("{}: has no {}, so streamsim did not make it and leaves it alone", root, kMarkerName));
}

Result<std::uint64_t> ensure_marker(ByteStore& store, const std::string& root) {
    constexpr int kAttempts = 5;  // another process may write it at the same time
    for (int attempt = 1;; ++attempt) {
        const auto there = read_marker(store, root);
        if (!there) return there.error();
        if (*there) return **there;
        if (auto made = store.make_directories(root); !made) return made.error();
        const std::uint64_t id = entropy64();
        const auto written = write_document(store, join_path(root, kMarkerName), kMarkerSchema, [id](auto) {
            return Json::object({{"id", id_text(id)}});
        });
        if (written) return id;
        if (attempt == kAttempts) return written.error();
    }
}

Result<FormatDirectory> find_format(ByteStore& store, const std::string& root, const MediaFormat& format) {
    const Json wanted = {
        {"schema", kIdentitySchema}, {"version", kDocumentVersion}, {"format", format_identity(format)}};
    for (int attempt = 1;; ++attempt) {
        const std::string name = attempt == 1 ? format.name : fmt::format("{}-{}", format.name, attempt);
        const std::string path = join_path(root, name);
        const std::string document = join_path(path, kFormatName);
        const auto there = directory_exists(store, path);
        if (!there) return there.error();
        if (!*there) return FormatDirectory{path, false};
        const auto info = store.stat(document);
        if (!info) return info.error();
        if (!*info) continue;  // not ours, or left by a killed clean
        const auto text = read_text(store, document, (*info)->bytes);
        if (!text) return text.error();
        const auto found = parse_json(*text, document);
        if (!found) return found.error();
        if (*found == wanted) return FormatDirectory{path, true};
        JsonProblems problems(document);
        JsonObject top(*found, "", problems);
        check_schema(top, kIdentitySchema, kDocumentVersion);
        (void)top.member("format");
        if (!problems.empty()) return problems.error();
    }
}

Result<void> write_format(ByteStore& store, const std::string& directory, const MediaFormat& format) {
    return write_document(store, join_path(directory, kFormatName), kIdentitySchema, [&](auto) {
        return Json::object({{"format", format_identity(format)}});
    });
}

Result<std::optional<Json>> read_identity(ByteStore& store, const std::string& directory) {
    const auto document = read_own_document(store, join_path(directory, kFormatName), kIdentitySchema);
    if (!document) return document.error();
    if (!*document || !(*document)->contains("format")) return std::optional<Json>();
    return std::optional((*document)->at("format"));
}

Result<std::vector<StoredClip>> stored_clips(ByteStore& store,
                                             const std::string& directory,
                                             const MediaFormat& format,
                                             std::optional<std::uint64_t> frames) {
    std::vector<StoredClip> clips;
    const auto lengths = store.list(directory);
    if (!lengths) return lengths.error();
    for (const DirectoryEntry& length : *lengths) {
        const auto count = length_in(length.name);
        if (!count || !length.directory || length.symbolic_link || (frames && *frames != *count)) continue;
        const std::string below = join_path(directory, length.name);
        const auto entries = store.list(below);
        if (!entries) return entries.error();
        for (const DirectoryEntry& entry : *entries) {
            const auto name = clip_name_in(entry.name);
            if (!name || name->container != format.container || entry.symbolic_link) continue;
            if (entry.directory == name->is_file()) continue;
            clips.push_back({*count, *name, join_path(below, entry.name)});
        }
    }
    std::sort(clips.begin(), clips.end(), [](const StoredClip& a, const StoredClip& b) {
        return std::tie(a.frames, a.name.number, a.name.partial) <
               std::tie(b.frames, b.name.number, b.name.partial);
    });
    return clips;
}

}  // namespace streamsim::media
