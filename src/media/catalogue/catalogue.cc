#include "media/catalogue/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/document/document.h"
#include "base/system/utf8_path.h"
#include "media/catalogue/format_parts.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kLikeMax = 12;  // names that are shown instead of one that is not there

void append(Error& all, const Error& more) {
    all.problems.insert(all.problems.end(), more.problems.begin(), more.problems.end());
}

/// The JSON documents of a directory, in name order.
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

/// The entry at the rate that was typed, which may be none.
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

bool is_file(const std::string& path) {
    std::error_code error;
    const auto file = utf8_path(path);
    return std::filesystem::exists(file, error) && !std::filesystem::is_directory(file, error);
}

}  // namespace

Result<MediaFormat> read_format(std::string_view text, const std::string& source) {
    auto document = read_format_document(text, source);
    if (!document) return document.error();
    if (document->family) {
        return bad_input(fmt::format("{}: /schema: expected one format, found a family of formats", source));
    }
    return std::move(document->entries.front().at_rates.front());
}

Json format_identity(const MediaFormat& format) {
    Json identity = {{"name", format.name},
                     {"codec", format.codec},
                     {"width", format.width},
                     {"height", format.height},
                     {"rate", {format.rate.num, format.rate.den}}};
    if (format.codec == "dpx") {
        identity["bits"] = format.dpx.bits;
        identity["packing"] = format.dpx.packing;
        identity["big_endian"] = format.dpx.big_endian;
        identity["image_offset"] = format.dpx.image_offset;
        return identity;
    }
    const FrameSizeModel& size = format.size;
    identity[format.codec == "prores" ? "fourcc" : "profile"] = format.profile;
    if (format.codec != "prores") identity["container"] = container_word(format.container);
    if (size.kind == FrameSizeModel::Kind::table) {
        identity["table"] = size.table;
        return identity;
    }
    identity["mean_bytes"] = size.mean_bytes;
    if (size.kind == FrameSizeModel::Kind::constant) return identity;
    if (size.kind == FrameSizeModel::Kind::long_gop) {
        identity["gop"] = size.gop;
        identity["weights"] = {size.weight_i, size.weight_p, size.weight_b};
        identity["variation"] = size.variation;
        identity["cap"] = size.cap;
        return identity;
    }
    identity["level"] = {size.level_min, size.level_max};
    identity["shot_frames"] = {size.shot_frames_min, size.shot_frames_max};
    identity["variation"] = size.variation;
    identity["correlation"] = size.correlation;
    identity["cap"] = size.cap;
    return identity;
}

const char* container_word(MediaFormat::Container container) {
    switch (container) {
        case MediaFormat::Container::sequence: return "sequence";
        case MediaFormat::Container::quicktime: return "quicktime";
        case MediaFormat::Container::mp4: return "mp4";
        case MediaFormat::Container::mxf: return "mxf";
    }
    return "";
}

Result<Catalogue> Catalogue::load(const std::string& directory) {
    const auto paths = documents_in(directory);
    if (!paths) return paths.error();
    std::vector<FormatDocument> documents;
    Error problems;
    std::map<std::string, std::string> names;  // and the file of each
    for (const auto& path : *paths) {
        const auto text = read_document(path.generic_string());
        if (!text) return text.error();
        auto document = read_format_document(*text, path.generic_string());
        if (!document) {
            append(problems, document.error());
            continue;
        }
        if (document->name != path.stem()) {
            append(problems,
                   bad_input(fmt::format("{}: /name: expected \"{}\", the name of the file, found \"{}\"",
                                         path.generic_string(), path.stem().string(), document->name)));
            continue;
        }
        for (const FormatEntry& entry : document->entries) {
            const auto [there, added] = names.emplace(entry.own().name, path.generic_string());
            if (added) continue;
            append(problems, bad_input(fmt::format(
                                 "{}: {}: the format \"{}\" is in {} already", path.generic_string(),
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

Result<MediaFormat> Catalogue::lookup(std::string_view name) const {
    const TypedName typed = split_rate(name);
    const FormatEntry* found = entry(typed.name);
    if (found == nullptr) {
        return bad_input(
            fmt::format("'{}' is not a known format (see `streamsim formats`){}", name, like(typed.name)));
    }
    auto format = at_rate(*found, typed);
    if (!format) return format.error();
    return std::move(format->format);
}

std::string Catalogue::like(std::string_view name) const {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find('-', at), name.size());
        if (end > at) words.push_back(name.substr(at, end - at));
        at = end + 1;
    }
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

Result<OpenedFormat> open_format(const Catalogue& catalogue, const std::string& typed) {
    const TypedName parts = split_rate(typed);
    if (const FormatEntry* known = catalogue.entry(parts.name); known != nullptr) return at_rate(*known, parts);
    if (is_file(typed)) return from_file(typed, std::nullopt, {typed, std::nullopt});
    for (const TypedName& name : {parts, TypedName{typed, std::nullopt}}) {
        const std::string path(name.name);
        if (is_file(path)) return from_file(path, std::nullopt, name);
        const auto hash = path.rfind('#');
        if (hash == std::string::npos || !is_file(path.substr(0, hash))) continue;
        return from_file(path.substr(0, hash), std::string_view(path).substr(hash + 1), name);
    }
    return bad_input(
        fmt::format("'{}' is neither a known format (see `streamsim formats`) nor a file that can be "
                    "read{}",
                    typed, catalogue.like(parts.name)));
}

}  // namespace streamsim::media
