#include "storage/fault/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/document/json.h"
#include "base/system/errno_name.h"
#include "base/units.h"

namespace streamsim::storage {
namespace {

constexpr std::int64_t kIntegerMax = INT64_MAX;

/// Keeps `into` when the member is missing or wrong.
void read_number(JsonObject& object, const std::string& key, std::int64_t min, std::uint64_t& into) {
    if (const auto number = object.integer(key, min, kIntegerMax, false))
        into = static_cast<std::uint64_t>(*number);
}

/// {"first": 20, "last": 40, "every": 2}; each member may be left out.
FaultSelection read_selection(JsonObject& parent, const std::string& key, JsonProblems& problems) {
    FaultSelection selection;
    const Json* value = parent.member(key, false);
    if (value == nullptr) return selection;
    JsonObject object(*value, parent.pointer_of(key), problems);
    read_number(object, "first", 0, selection.first);
    read_number(object, "last", 0, selection.last);
    if (selection.last < selection.first) object.problem("last", "is before \"first\": nothing is selected");
    read_number(object, "every", 1, selection.every);
    object.finish();
    return selection;
}

/// A count of bytes, or a size such as "4KiB".
std::optional<std::uint64_t> read_bytes(JsonObject& object, const std::string& key) {
    const Json* value = object.member(key, false);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) {
        const auto bytes = object.integer(key, 0, kIntegerMax, false);
        return bytes ? std::optional(static_cast<std::uint64_t>(*bytes)) : std::nullopt;
    }
    const auto size = parse_size(value->get_ref<const std::string&>());
    if (size) return *size;
    object.problem(key, size.error().problems.front());
    return std::nullopt;
}

std::optional<Duration> read_time(JsonObject& object, const std::string& key, bool required = true) {
    const auto time = object.duration(key, required);
    if (!time || *time <= FaultPlan::kMaxTime) return time;
    object.problem(key, "expected at most a year (8760h)");
    return std::nullopt;
}

void read_effects(JsonObject& object, FaultRule& rule) {
    if (const auto delay = read_time(object, "delay", false)) rule.delay = *delay;
    if (const auto name = object.string("error", false)) {
        const auto error = errno_from_name(*name);
        if (!error)
            object.problem("error", fmt::format("expected the name of an error such as EIO, found {}", *name));
        rule.error = error.value_or(EIO);
    }
    rule.short_bytes = read_bytes(object, "short");
    rule.missing = object.boolean("missing", false).value_or(false);
    if (rule.missing && rule.error != 0) object.problem("missing", "is an error itself: leave out \"error\"");
}

FaultRule read_rule(const Json& value, const std::string& pointer, JsonProblems& problems) {
    FaultRule rule;
    JsonObject object(value, pointer, problems);
    if (const auto file = object.string("file", false)) rule.file = *file;
    if (const auto seat = object.integer("seat", 0, UINT32_MAX, false))
        rule.seat = static_cast<std::uint32_t>(*seat);
    if (const auto stream = object.integer("stream", 0, UINT32_MAX, false)) {
        rule.stream = static_cast<std::uint32_t>(*stream);
    }
    rule.slots = read_selection(object, "slots", problems);
    rule.clip_frames = read_selection(object, "clip_frames", problems);
    constexpr std::pair<const char*, FaultRule::Operation> kOperations[] = {
        {"open", FaultRule::Operation::open},
        {"read", FaultRule::Operation::read},
        {"write", FaultRule::Operation::write},
        {"sync", FaultRule::Operation::sync},
        {"any", FaultRule::Operation::any}};
    const auto operation = object.one_of("operation", {"open", "read", "write", "sync", "any"}, false);
    for (const auto& [name, of] : kOperations) {
        if (operation == name) rule.operation = of;
    }
    rule.probability = object.number("probability", 0, 1, false).value_or(1);
    read_effects(object, rule);
    if (value.is_object() && !object.has("delay") && !object.has("error") && !object.has("short") &&
        !rule.missing) {
        problems.add(pointer, "has no effect: give \"delay\", \"error\", \"short\" or \"missing\"");
    }
    object.finish();
    return rule;
}

FaultStall read_stall(const Json& value, const std::string& pointer, JsonProblems& problems) {
    FaultStall stall;
    JsonObject object(value, pointer, problems);
    if (const auto at = read_time(object, "at")) stall.at = *at;
    if (const auto length = read_time(object, "for")) {
        stall.length = *length;
        if (stall.length.ns == 0) object.problem("for", "expected more than no time");
    }
    object.finish();
    return stall;
}

/// Calls `read(element, pointer)` for each element of the array `key`, which may be missing.
template <typename Read>
void read_array(JsonObject& parent, const std::string& key, std::size_t elements_max, Read&& read) {
    const Json* value = parent.member(key, false);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() > elements_max) {
        parent.problem(key, fmt::format("expected an array of at most {} elements", elements_max));
        return;
    }
    for (std::size_t i = 0; i < value->size() && !parent.enough_problems(); ++i)
        read((*value)[i], fmt::format("{}/{}", parent.pointer_of(key), i));
}

}  // namespace

Result<FaultPlan> read_fault_plan(std::string_view text, const std::string& source) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    JsonObject object(*document, "", problems);
    check_schema(object, "streamsim.faults", 1);
    object.string("description", false);
    FaultPlan plan;
    constexpr std::size_t kStallsMax = 10'000;
    read_array(object, "rules", FaultPlan::kMaxRules, [&](const Json& value, const std::string& pointer) {
        plan.rules.push_back(read_rule(value, pointer, problems));
    });
    read_array(object, "stalls", kStallsMax, [&](const Json& value, const std::string& pointer) {
        plan.stalls.push_back(read_stall(value, pointer, problems));
    });
    std::set<std::string> names;
    for (const FaultRule& rule : plan.rules) names.insert(rule.file);
    if (names.size() > FaultPlan::kMaxNames) {
        object.problem("rules",
                       fmt::format("expected at most {} different \"file\" patterns", FaultPlan::kMaxNames));
    }
    object.finish();
    if (!problems.empty()) return problems.error();
    put_in_order(plan.stalls);
    return plan;
}

void put_in_order(std::vector<FaultStall>& stalls) {
    std::sort(stalls.begin(), stalls.end(),
              [](const FaultStall& a, const FaultStall& b) { return a.at < b.at; });
    std::vector<FaultStall> merged;
    for (const FaultStall& stall : stalls) {
        if (!merged.empty() && stall.at <= merged.back().at + merged.back().length) {
            FaultStall& last = merged.back();
            last.length = std::max(last.at + last.length, stall.at + stall.length) - last.at;
        } else {
            merged.push_back(stall);
        }
    }
    stalls = std::move(merged);
}

bool glob_matches(std::string_view pattern, std::string_view name) {
    // The position of the last `*`, and the part of the name that it matches: one character more at each
    // mismatch.
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = std::string_view::npos;
    std::size_t eaten = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            eaten = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++eaten;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace streamsim::storage
