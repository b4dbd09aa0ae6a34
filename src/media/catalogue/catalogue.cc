#include "media/catalogue/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/document/document.h"
#include "base/document/json_number.h"
#include "base/similar_names.h"
#include "base/system/utf8_path.h"
#include "media/catalogue/format_parts.h"

namespace streamsim::media {
namespace {

constexpr const char* kContainerWords[] = {"sequence", "quicktime", "mp4", "mxf"};  // by Container
constexpr std::size_t kLikeMax = 12;  // names that are shown instead of one that is not there

void append_problems(Error& all, const Error& more) {
    all.problems.insert(all.problems.end(), more.problems.begin(), more.problems.end());
}

Result<std::vector<std::filesystem::path>> documents_in(const std::string& directory) {
    std::vector<std::filesystem::path> paths;
    std::error_code error;
    std::filesystem::directory_iterator entries(utf8_path(directory), error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        if (entries->path().extension() == ".json") paths.push_back(entries->path());
    }
    if (error)
        return environment_error(
            fmt::format("{}: cannot list the media formats: {}", directory, error.message()));
    if (paths.empty()) return environment_error(fmt::format("{}: no media formats (*.json) there", directory));
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// "name@rate" in two; no rate where there is no '@'.
struct TypedName {
    std::string_view name;
    std::optional<std::string_view> rate;
};
TypedName split_rate(std::string_view typed) {
    const auto at = typed.rfind('@');
    if (at == std::string_view::npos) return {typed, std::nullopt};
    return {typed.substr(0, at), typed.substr(at + 1)};
}

std::string rate_list(const FormatEntry& entry) {
    std::vector<std::string> labels;
    for (const MediaFormat& format : entry.at_rates) labels.push_back(rate_label(format.rate));
    return fmt::format("{}", fmt::join(labels, ", "));
}

Result<OpenedFormat> at_rate(const FormatEntry& entry, TypedName typed) {
    if (!typed.rate) return OpenedFormat{entry.own(), entry.at_rates};
    std::string text(*typed.rate);
    std::replace(text.begin(), text.end(), '-', '/');  // a rate without an exact decimal, as it is in a name
    const auto rate = FrameRate::parse(text);
    if (!rate)
        return bad_input(fmt::format("{}@{}: {}", typed.name, *typed.rate, rate.error().problems.front()));
    if (const MediaFormat* format = entry.at(*rate); format != nullptr) {
        return OpenedFormat{*format, entry.at_rates};
    }
    return bad_input(fmt::format("{}@{}: the format {} has the rates {}; --fps plays it at another", typed.name,
                                 *typed.rate, entry.own().name, rate_list(entry)));
}

const FormatEntry* entry_named(const std::vector<FormatEntry>& entries, std::string_view name) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [name](const FormatEntry& entry) { return entry.own().name == name; });
    return found == entries.end() ? nullptr : &*found;
}

/// A file's format: FILE, or FILE#NAME where the file is a family.
Result<OpenedFormat> from_file(const std::string& path,
                               std::optional<std::string_view> entry,
                               TypedName typed) {
    const auto text = read_document(path);
    if (!text) return text.error();
    const auto document = read_format_document(*text, path);
    if (!document) return document.error();
    if (!document->family && !entry) return at_rate(document->entries.front(), typed);
    const FormatEntry* found = entry ? entry_named(document->entries, *entry) : nullptr;
    if (found != nullptr) return at_rate(*found, typed);
    std::vector<std::string_view> names;
    for (const FormatEntry& one : document->entries) names.push_back(one.own().name);
    return bad_input(fmt::format("{}: {}: name one of its entries as {}#NAME: {}", path,
                                 entry ? fmt::format("has no entry \"{}\"", *entry) : "is a family of formats",
                                 path, fmt::join(names, ", ")));
}

/// Calls `member` with the JSON pointer and the value of each member of an identity but for the container. The
/// codec and the kind of the sizes, which come first, say which members there are.
template <typename Format, typename Member>
void for_each_member(Format& format, const Member& member) {
    using Kind = FrameSizeModel::Kind;
    auto& size = format.size;
    member("/name", format.name);
    member("/codec", format.codec);
    member("/width", format.width);
    member("/height", format.height);
    member("/rate/0", format.rate.num);
    member("/rate/1", format.rate.den);
    if (format.codec == "dpx") {
        member("/bits", format.dpx.bits);
        member("/packing", format.dpx.packing);
        member("/big_endian", format.dpx.big_endian);
        member("/image_offset", format.dpx.image_offset);
        return;
    }
    member(format.codec == "prores" ? "/fourcc" : "/profile", format.profile);
    if (size.kind == Kind::table) return member("/table", size.table);
    member("/mean_bytes", size.mean_bytes);
    if (size.kind == Kind::constant) return;
    if (size.kind == Kind::long_gop) {
        member("/gop", size.gop);
        member("/weights/0", size.weight_i);
        member("/weights/1", size.weight_p);
        member("/weights/2", size.weight_b);
    } else {
        member("/level/0", size.level_min);
        member("/level/1", size.level_max);
        member("/shot_frames/0", size.shot_frames_min);
        member("/shot_frames/1", size.shot_frames_max);
        member("/correlation", size.correlation);
    }
    member("/variation", size.variation);
    member("/cap", size.cap);
}

/// False: the value is no whole number of this type.
template <std::integral Number>
requires(!std::same_as<Number, bool>) bool take(const Json& value, Number& to) {
    const auto number = whole_in<Number>(value);
    to = number.value_or(0);
    return number.has_value();
}

bool take(const Json& value, std::vector<std::uint32_t>& to) {
    return std::all_of(value.begin(), value.end(),
                       [&to](const Json& each) { return take(each, to.emplace_back()); });
}

/// Throws Json::exception where the value is of another type.
template <typename Value>
bool take(const Json& value, Value& to) {
    value.get_to(to);
    return true;
}

bool has_container(const MediaFormat& format) {
    return format.codec != "dpx" && format.codec != "prores";
}

bool is_file_at(const std::string& path) {
    std::error_code error;
    const auto file = system_path(path);
    return std::filesystem::exists(file, error) && !std::filesystem::is_directory(file, error);
}

}  // namespace

Json format_identity(const MediaFormat& format) {
    Json identity;
    for_each_member(format, [&identity](const char* pointer, const auto& value) {
        identity[Json::json_pointer(pointer)] = value;
    });
    if (has_container(format)) identity["container"] = container_word(format.container);
    return identity;
}

std::optional<MediaFormat> format_of_identity(const Json& identity) {
    using Kind = FrameSizeModel::Kind;
    MediaFormat format;
    format.size.kind = identity.contains("table")   ? Kind::table
                       : identity.contains("gop")   ? Kind::long_gop
                       : identity.contains("level") ? Kind::scene
                                                    : Kind::constant;
    bool sane = true;
    try {
        for_each_member(format, [&](const char* pointer, auto& value) {
            sane = take(identity.at(Json::json_pointer(pointer)), value) && sane;
        });
        if (format.codec == "prores") format.container = MediaFormat::Container::quicktime;
        if (has_container(format)) {
            const auto container = container_of(identity.at("container").get<std::string>());
            if (!container) return std::nullopt;
            format.container = *container;
        }
    } catch (const Json::exception&) {  // a member that is missing or of another type
        return std::nullopt;
    }
    sane = sane && format.width > 0 && format.height > 0 && format.rate.num > 0 && format.rate.den > 0;
    return sane && format_identity(format) == identity ? std::optional(format) : std::nullopt;
}

const char* container_word(MediaFormat::Container container) {
    return kContainerWords[static_cast<std::size_t>(container)];
}

std::optional<MediaFormat::Container> container_of(std::string_view word) {
    const auto* const found = std::find(std::begin(kContainerWords), std::end(kContainerWords), word);
    if (found == std::end(kContainerWords)) return std::nullopt;
    return static_cast<MediaFormat::Container>(found - std::begin(kContainerWords));
}

Result<Catalogue> Catalogue::load(const std::string& directory) {
    const auto paths = documents_in(directory);
    if (!paths) return paths.error();
    std::vector<FormatDocument> documents;
    Error problems;
    std::map<std::string, std::string> names;  // and the file of each
    for (const auto& path : *paths) {
        const auto text = read_document(utf8_generic_text(path));
        if (!text) return text.error();
        auto document = read_format_document(*text, utf8_generic_text(path));
        if (!document) {
            append_problems(problems, document.error());
            continue;
        }
        if (document->name != path.stem()) {
            append_problems(problems, bad_input(fmt::format(
                                          "{}: /name: expected \"{}\", the name of the file, found \"{}\"",
                                          utf8_generic_text(path), utf8_text(path.stem()), document->name)));
            continue;
        }
        for (const FormatEntry& entry : document->entries) {
            const auto [there, added] = names.emplace(entry.own().name, utf8_generic_text(path));
            if (added) continue;
            append_problems(problems,
                            bad_input(fmt::format(
                                "{}: {}: the format \"{}\" is in {} already", utf8_generic_text(path),
                                document->family ? "/variants" : "/name", entry.own().name, there->second)));
        }
        documents.push_back(std::move(*document));
    }
    if (!problems.problems.empty()) return problems;
    std::stable_partition(documents.begin(), documents.end(),
                          [](const FormatDocument& document) { return !document.family; });
    Catalogue catalogue;
    catalogue.documents_ = std::move(documents);
    for (const FormatDocument& document : catalogue.documents_) {
        for (const FormatEntry& entry : document.entries) catalogue.formats_.push_back(entry.own());
    }
    return catalogue;
}

const FormatEntry* Catalogue::entry(std::string_view name) const {
    for (const FormatDocument& document : documents_) {
        if (const FormatEntry* found = entry_named(document.entries, name); found != nullptr) return found;
    }
    return nullptr;
}

const MediaFormat* Catalogue::find(std::string_view name) const {
    const TypedName typed = split_rate(name);
    const FormatEntry* found = entry(typed.name);
    if (found == nullptr) return nullptr;
    const auto format = at_rate(*found, typed);
    return format ? found->at(format->format.rate) : nullptr;
}

std::string Catalogue::like(std::string_view name) const {
    std::vector<std::string> known;
    for (const MediaFormat& format : formats_) known.push_back(format.name);
    if (std::string meant = did_you_mean(name, known); !meant.empty()) return meant;
    std::vector<std::string_view> words = split(name, '-');
    std::erase(words, "");
    if (words.empty()) return "";
    const std::string last = "-" + std::string(words.back());
    std::vector<std::string_view> names;
    std::vector<std::string_view> of_that_raster;  // "-hd" is no part of "-uhd"
    for (const MediaFormat& format : formats_) {
        const bool all = std::all_of(words.begin(), words.end(), [&format](std::string_view word) {
            return format.name.find(word) != std::string::npos;
        });
        if (!all) continue;
        names.push_back(format.name);
        if (format.name.ends_with(last)) of_that_raster.push_back(format.name);
    }
    if (!of_that_raster.empty()) names = of_that_raster;
    if (names.empty() || names.size() > kLikeMax) return "";
    return fmt::format("; like it: {}", fmt::join(names, ", "));
}

Result<OpenedFormat> open_format(const Catalogue& catalogue, const std::string& typed, bool may_be_file) {
    const TypedName parts = split_rate(typed);
    if (const FormatEntry* known = catalogue.entry(parts.name); known != nullptr) return at_rate(*known, parts);
    if (!may_be_file) {
        return bad_input(
            fmt::format("'{}' is no known format (see `streamsim formats`), and seats that join read no "
                        "file that the run names{}",
                        typed, catalogue.like(parts.name)));
    }
    if (is_file_at(typed)) return from_file(typed, std::nullopt, {typed, std::nullopt});
    for (const TypedName& name : {parts, TypedName{typed, std::nullopt}}) {
        const std::string path(name.name);
        if (is_file_at(path)) return from_file(path, std::nullopt, name);
        const auto hash = path.rfind('#');
        if (hash == std::string::npos || !is_file_at(path.substr(0, hash))) continue;
        return from_file(path.substr(0, hash), std::string_view(path).substr(hash + 1), name);
    }
    return bad_input(
        fmt::format("'{}' is neither a known format (see `streamsim formats`) nor a file that can be "
                    "read{}",
                    typed, catalogue.like(parts.name)));
}

}  // namespace streamsim::media
