#include "target/target.h"

#include <fmt/format.h>

#include <set>

#include "base/ascii.h"
#include "base/similar_names.h"
#include "base/system/utf8_path.h"
#include "target/allowed_places.h"

namespace streamsim::target {
namespace {

constexpr std::uint32_t kNodesMax = 10'000;
constexpr const char* kStrategies = "streaming, concurrency, random, filename-prefetch or as-media";
constexpr const char* kOptions =
    "nodes=N, cluster=N, cache=cold|warm or strategy=streaming|concurrency|random|filename-prefetch|as-media";

std::optional<AccessStrategy> strategy_named(const std::string& word) {
    if (word == "as-media") return AccessStrategy::as_media;
    if (word == "random") return AccessStrategy::random;
    if (word == "concurrency") return AccessStrategy::concurrency;
    if (word == "streaming") return AccessStrategy::streaming;
    if (word == "filename-prefetch") return AccessStrategy::filename_prefetch;
    return std::nullopt;
}

class ModelOptions {
public:
    explicit ModelOptions(const std::string& url) : url_(url) {}

    void read(const std::string& text, Target& target) {
        for (const std::string_view option : split(text, '&')) read_one(std::string(option), target);
    }

    std::vector<std::string> problems;

private:
    void note(const std::string& problem) { problems.push_back(fmt::format("'{}': {}", url_, problem)); }

    void read_one(const std::string& option, Target& target) {
        const auto equals = option.find('=');
        const std::string key = option.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
        if (key != "nodes" && key != "cluster" && key != "cache" && key != "strategy") {
            note(fmt::format("the option '{}' is not known: expected {}{}", option, kOptions,
                             did_you_mean(key, {"nodes", "cluster", "cache", "strategy"})));
        } else if (!seen_.insert(key).second) {
            note(fmt::format("the option {} is given twice", key));
        } else if (key == "nodes") {
            target.nodes = count(key, value);
        } else if (key == "cluster") {
            target.cluster = count(key, value);
        } else if (key == "strategy") {
            const auto strategy = strategy_named(value);
            if (!strategy) note(fmt::format("strategy={}: expected {}", value, kStrategies));
            target.strategy = strategy.value_or(AccessStrategy::as_media);
        } else if (value == "cold" || value == "warm") {
            target.warm = value == "warm";
        } else {
            note(fmt::format("cache={}: expected cold or warm", value));
        }
    }

    std::optional<std::uint32_t> count(const std::string& key, const std::string& value) {
        const auto number = whole_number<std::uint32_t>(value);
        if (number && *number >= 1 && *number <= kNodesMax) return number;
        note(fmt::format("{}={}: expected a whole number from 1 to {}", key, value, kNodesMax));
        return std::nullopt;
    }

    const std::string& url_;
    std::set<std::string> seen_;
};

Result<Target> parse_model(const std::string& text) {
    if (text == "sim:null") return Target{.kind = Target::Kind::null_virtual, .url = text, .path = {}};
    Target target{.kind = Target::Kind::model, .url = text, .path = {}};
    const auto question = text.find('?');
    target.path = text.substr(4, question == std::string::npos ? question : question - 4);
    ModelOptions options(text);
    if (target.path == "null")
        options.problems.push_back(fmt::format("'{}': sim:null completes at once and has no options", text));
    if (target.path.empty()) {
        options.problems.push_back(
            fmt::format("'{}' names no model: expected sim:NAME, sim:FILE or sim:null", text));
    }
    if (question != std::string::npos && target.path != "null") options.read(text.substr(question + 1), target);
    if (!options.problems.empty()) return Error{ErrorKind::bad_input, options.problems};
    return target;
}

/// With '/' between its parts, also where they are typed with '\\'. "/C:/media", from a URL, begins with a
/// drive.
std::string local_path(const std::string& text) {
    if (text.starts_with('/') && utf8_path(text.substr(1)).has_root_name()) return local_path(text.substr(1));
    return utf8_generic_text(utf8_path(text));
}

Result<Target> parse_any_target(const std::string& text) {
    if (text.empty()) return bad_input("TARGET is empty: expected a directory, a clip or a URL");
    if (text == "null:") return Target{.kind = Target::Kind::null, .url = text, .path = {}};
    if (text.starts_with("sim:")) return parse_model(text);
    if (text.starts_with("file:")) {
        std::string path = text.substr(5);
        if (path.starts_with("//")) {
            const auto slash = path.find('/', 2);
            const std::string host = path.substr(2, slash == std::string::npos ? slash : slash - 2);
            if (slash == std::string::npos || (!host.empty() && host != "localhost")) {
                return bad_input(fmt::format("'{}': a file: URL names a path here: file:///mnt/media", text));
            }
            path = path.substr(slash);
        }
        if (path.empty()) return bad_input(fmt::format("'{}' names no path", text));
        return Target{.kind = Target::Kind::local, .url = text, .path = local_path(path)};
    }
    if (text.starts_with("nfs://") || text.starts_with("smb://")) return parse_remote_target(text);
    bool foreign = text.starts_with("nfs:") || text.starts_with("smb:") || text.starts_with("null:");
    const std::size_t scheme = text.find("://");
    if (scheme != std::string::npos && scheme > 1)  // one letter: a drive
        foreign = foreign || text.find_first_of("/.\\") > scheme;
    if (foreign) {
        return bad_input(fmt::format(
            "'{}': streamsim has no storage for it: expected a path, file:PATH, nfs://host/export/dir, "
            "smb://host/share/dir, null:, sim:MODEL or sim:null (a mounted share is a path){}",
            text, did_you_mean(text.substr(0, text.find(':')), {"nfs", "smb", "file", "sim", "null"})));
    }
    return Target{.kind = Target::Kind::local, .url = text, .path = local_path(text)};
}

}  // namespace

std::string Target::name() const {
    return kind == Kind::remote ? remote->name_of(path) : path;
}

Result<Target> parse_target(const std::string& text) {
    auto target = parse_any_target(place_here(text));
    if (!target) return target;
    target->url = text;
    if (const auto allows = check_allowed(*target); !allows) return allows.error();
    return target;
}

}  // namespace streamsim::target
