#include "sim/model/number_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/units.h"

namespace streamsim::sim {
namespace {

constexpr std::string_view kBases[] = {"data sheet", "standard", "paper",  "measured",
                                       "computed",   "fitted",   "assumed"};

/// A basis is one of the words, then its details.
bool is_basis(const std::string& text) {
    return std::any_of(std::begin(kBases), std::end(kBases), [&text](std::string_view word) {
        return text.starts_with(word) && text.size() > word.size() + 2 &&
               (text[word.size()] == ':' || text[word.size()] == ' ' || text[word.size()] == ',');
    });
}

}  // namespace

void Numbers::duration(const std::string& key, Need need, Duration& into) {
    take(key, need, 0, kSecondsMax, into, [](JsonObject& entry, const char* member) {
        const auto value = entry.duration(member);
        if (value && value->ns > streamsim::seconds(static_cast<std::int64_t>(kSecondsMax)).ns)
            entry.problem(member, fmt::format("expected at most {:.0f} s", kSecondsMax));
        return value;
    });
}

void Numbers::boolean(const std::string& key, bool& into) {
    std::optional<JsonObject> entry = entry_of(key, Need::optional);
    if (!entry) return;
    if (const auto value = entry->boolean("value")) into = *value;
    finish_entry(*entry);
}

void Numbers::size(const std::string& key, std::uint64_t min, Need need, std::uint64_t& into) {
    const auto read = [min](JsonObject& entry, const char* member) -> std::optional<std::uint64_t> {
        const Json* value = entry.member(member);
        if (value == nullptr) return std::nullopt;
        std::optional<std::uint64_t> bytes;
        if (value->is_string()) {
            const auto size = parse_size(value->get_ref<const std::string&>());
            if (!size) {
                entry.problem(member, size.error().problems.front());
                return std::nullopt;
            }
            bytes = *size;
        } else if (value->is_number_unsigned()) {
            bytes = value->get<std::uint64_t>();
        }
        if (bytes && *bytes >= min && *bytes <= kSizeMax) return bytes;
        entry.problem(
            member, fmt::format("expected {} or a text such as \"64GiB\", found {}",
                                min == 0 ? "bytes" : fmt::format("at least {} bytes", min), json_text(*value)));
        return std::nullopt;
    };
    take(key, need, static_cast<double>(min), static_cast<double>(kSizeMax), into, read);
}

std::optional<JsonObject> Numbers::entry_of(const std::string& key, Need need) {
    const Json* member = object_.member(key, need == Need::required);
    if (member == nullptr) return std::nullopt;
    const std::string pointer = object_.pointer_of(key);
    if (member->is_object()) return JsonObject(*member, pointer, problems_);
    problems_.add(pointer,
                  fmt::format("expected {{\"value\": ..., \"basis\": \"...\"}}, found {}", json_text(*member)));
    return std::nullopt;
}

void Numbers::keep(JsonObject& entry, UncertainNumber uncertain) {
    if (!entry.has("low") && !entry.has("high")) return;
    if (!entry.has("low")) {
        return entry.problem("low",
                             "missing: \"high\" is beside \"low\"; \"low\" alone means \"at least\", and no "
                             "number is \"at most\"");
    }
    if (!uncertain.low || (entry.has("high") && !uncertain.high)) return;  // a problem is noted
    if (*uncertain.low > uncertain.value) return entry.problem("low", "expected no more than \"value\"");
    if (uncertain.high && *uncertain.high < uncertain.value)
        return entry.problem("high", "expected no less than \"value\"");
    lists_.uncertain.push_back(std::move(uncertain));
}

void Numbers::finish_entry(JsonObject& entry) {
    const auto basis = entry.string("basis");
    if (basis && !is_basis(*basis)) {
        entry.problem("basis",
                      "expected what the number rests on, beginning with \"data sheet: \", "
                      "\"standard: \", \"paper: \", \"measured: \", \"computed: \", \"fitted to "
                      "...\" or \"assumed: \"");
    } else if (basis) {
        lists_.sources.push_back(entry.pointer() + ": " + *basis);
    }
    entry.finish();
}

}  // namespace streamsim::sim
