#include "media/write/load_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/document/json_number.h"
#include "base/path.h"
#include "base/prng.h"
#include "media/own_files/document_file.h"
#include "media/own_files/own_names.h"
#include "media/write/media_set_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kSchema = "streamsim.load-record";
constexpr std::string_view kRecordSuffix = ".set.json";
constexpr std::size_t kNamesMax = 3000;  // names in one document: well below read_text()'s limit

/// "a/f", 17, ".load": the last number of a name, without leading zeroes; the prefix alone where it has none.
struct Parts {
    std::string prefix;
    std::optional<std::uint64_t> number;
    std::string suffix;
};

Parts parts_of(const std::string& name) {
    const std::size_t end = name.find_last_of("0123456789") + 1;  // 0: there is none
    std::size_t begin = end;
    while (begin > 0 && is_digit(name[begin - 1])) --begin;
    const auto number = whole_number<std::uint64_t>(std::string_view(name).substr(begin, end - begin));
    if (!number || (name[begin] == '0' && end - begin > 1)) return {name, std::nullopt, ""};
    return {name.substr(0, begin), number, name.substr(end)};
}

struct NamedRun {
    std::string prefix;
    std::string suffix;
    LoadNames::Run run;  // count 0: the prefix alone is the name
};

std::vector<NamedRun> file_runs(const std::string& root, const std::vector<LoadFile>& files) {
    std::vector<NamedRun> runs;
    std::map<std::tuple<std::string, std::string, std::uint64_t>, std::size_t> last;  // run of these parts
    for (const LoadFile& file : files) {
        const Parts parts = parts_of(file.path.substr(root.size() + 1));
        if (!parts.number) {
            runs.push_back({parts.prefix, "", {.bytes = file.bytes}});
            continue;
        }
        const auto key = std::tuple(parts.prefix, parts.suffix, file.bytes);
        if (const auto found = last.find(key); found != last.end()) {
            LoadNames::Run& run = runs[found->second].run;
            const std::uint64_t end = run.first + (run.count - 1) * run.step;
            if (run.count == 1 && *parts.number > run.first) run.step = *parts.number - run.first;
            if (parts.number == end + run.step) {
                ++run.count;
                continue;
            }
        }
        last[key] = runs.size();
        runs.push_back({parts.prefix, parts.suffix, {*parts.number, 1, 1, file.bytes}});
    }
    return runs;
}

Result<void> write_one(ByteStore& store, const std::string& root, Json document) {
    const std::string path = join_path(root, fmt::format("{}{}", id_text(entropy64()), kRecordSuffix));
    return write_document(store, path, kSchema, [&](auto) { return document; });
}

/// Throws Json::exception where it is none.
std::uint64_t number_at(const Json& list, std::size_t index) {
    if (const auto number = whole_in<std::uint64_t>(list.at(index))) return *number;
    throw Json::other_error::create(501, "no whole number", nullptr);
}

/// A record that is damaged from some place on names what stands before that.
void take_names(const Json& document, LoadNames& names) {
    try {
        for (const Json& name : document.at("directories")) names.directories.insert(name.get<std::string>());
        for (const Json& file : document.at("files")) {
            const auto key = std::pair(file.at(0).get<std::string>(), file.at(1).get<std::string>());
            LoadNames::Run run{number_at(file, 2), number_at(file, 3), number_at(file, 4)};
            if (file.size() > 5) run.bytes = number_at(file, 5);
            names.files[key].push_back(run);
        }
    } catch (const Json::exception&) {
        return;
    }
}

}  // namespace

bool is_created_name(std::string_view name) {
    constexpr std::string_view kBegin = "c", kEnd = ".load";
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return false;
    const auto numbers = split(name.substr(1, name.size() - kBegin.size() - kEnd.size()), '-');
    return numbers.size() == 3 && std::all_of(numbers.begin(), numbers.end(), [](std::string_view number) {
               return !number.empty() && std::all_of(number.begin(), number.end(), is_digit);
           });
}

bool LoadNames::has_file(const std::string& name, const FileInfo& info) const {
    if (!info.is_regular() || info.links > 1) return false;
    std::string_view whole = name;
    const bool partial = take_partial(whole);
    if (partial && name.size() - whole.size() == kPartial.size()) return false;  // the name holds no run
    const auto of_length = [&](const Run& run) {
        return !run.bytes || (partial ? info.bytes <= *run.bytes : info.bytes == *run.bytes);
    };
    const auto has = [&](const std::string& wanted) {
        if (const auto runs = files.find({wanted, ""}); runs != files.end()) {
            for (const Run& run : runs->second)
                if (run.count == 0 && of_length(run)) return true;
        }
        const Parts parts = parts_of(wanted);
        const auto found = files.find({parts.prefix, parts.suffix});
        if (!parts.number || found == files.end()) return false;
        for (const Run& run : found->second) {
            if (run.step == 0 || *parts.number < run.first) continue;
            const std::uint64_t behind = *parts.number - run.first;
            if (behind % run.step == 0 && behind / run.step < run.count && of_length(run)) return true;
        }
        return false;
    };
    if (has(std::string(whole))) return true;
    const std::size_t slash = whole.rfind('/');
    return slash != std::string_view::npos && is_created_name(whole.substr(slash + 1)) &&
           directories.contains(std::string(whole.substr(0, slash)));
}

Result<LoadNames> read_load_records(ByteStore& store, const std::string& root, std::uint64_t set) {
    LoadNames names;
    const auto info = store.stat(root);
    if (!info) return info.error();
    if (!*info) return names;
    const auto entries = store.list(root);
    if (!entries) return entries.error();
    for (const DirectoryEntry& entry : *entries) {
        std::string_view document = entry.name;
        (void)take_partial(document);
        if (!document.ends_with(kRecordSuffix) || entry.directory || entry.symbolic_link) continue;
        const std::string path = join_path(root, entry.name);
        if (document != entry.name) {
            const auto ours = is_unfinished(store, path, std::string(document));
            if (!ours) return ours.error();
            if (*ours) names.documents.insert(entry.name);
            continue;
        }
        const auto read = read_own_document(store, path, kSchema);
        if (!read) return read.error();
        if (!*read || (*read)->value("set", Json()) != id_text(set)) continue;
        names.documents.insert(entry.name);
        take_names(**read, names);
    }
    return names;
}

Result<void> write_load_records(ByteStore& store,
                                const std::string& root,
                                std::uint64_t set_id,
                                const LoadSet& set) {
    const Json empty = {{"set", id_text(set_id)}, {"directories", Json::array()}, {"files", Json::array()}};
    Json document = empty;
    std::size_t count = 0;
    const auto next = [&]() -> Result<void> {
        if (++count % kNamesMax != 0) return {};
        return write_one(store, root, std::exchange(document, empty));
    };
    for (const std::string& directory : set.directories) {
        if (directory.size() <= root.size()) continue;  // the directory of the working sets itself
        document["directories"].push_back(directory.substr(root.size() + 1));
        if (auto done = next(); !done) return done;
    }
    for (const NamedRun& run : file_runs(root, set.files)) {
        document["files"].push_back(
            {run.prefix, run.suffix, run.run.first, run.run.count, run.run.step, run.run.bytes.value_or(0)});
        if (auto done = next(); !done) return done;
    }
    return document == empty ? Result<void>{} : write_one(store, root, document);
}

}  // namespace streamsim::media
