// Reads the numbers of a model's document: {"value": ..., "low": ..., "high": ..., "basis": "..."} members of
// one object, each with its bounds. `low` and `high` are optional: the bounds of an interval of 90 %. `low`
// alone: the number is at least that large.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/document/json.h"
#include "base/time.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

inline constexpr double kRateMax = 1e15;  // bits or bytes a second: more than any part has
inline constexpr double kSecondsMax = 3600;
inline constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 60;

enum class Need { required, optional };

/// The reader adds to these lists.
struct NumberLists {
    std::vector<std::string>& sources;
    std::vector<UncertainNumber>& uncertain;
};

class Numbers {
public:
    Numbers(const Json& value, std::string pointer, JsonProblems& problems, NumberLists lists)
        : object_(value, std::move(pointer), problems), problems_(problems), lists_(lists) {}

    JsonObject& object() { return object_; }
    bool has(const std::string& key) const { return object_.has(key); }
    void problem(const std::string& key, const std::string& text) { object_.problem(key, text); }
    void finish() { object_.finish(); }

    void number(const std::string& key, double min, double max, Need need, double& into) {
        take(key, need, min, max, into,
             [=](JsonObject& entry, const char* member) { return entry.number(member, min, max); });
    }

    template <typename T>
    void count(const std::string& key, std::int64_t min, std::int64_t max, Need need, T& into) {
        take(key, need, static_cast<double>(min), static_cast<double>(max), into,
             [=](JsonObject& entry, const char* member) { return entry.integer(member, min, max); });
    }

    void duration(const std::string& key, Need need, Duration& into);
    /// Without low and high.
    void boolean(const std::string& key, bool& into);
    /// Bytes, or a text such as "128GiB".
    void size(const std::string& key, std::uint64_t min, Need need, std::uint64_t& into);

    /// Reads a member that is an object of numbers itself; it may be missing.
    template <typename Read>
    void part(const std::string& key, Need need, Read&& read_part) {
        const Json* value = object_.member(key, need == Need::required);
        if (value == nullptr) return;
        read_object(*value, object_.pointer_of(key), read_part);
    }

    /// Reads each element of a list like that.
    template <typename Read>
    void list(const std::string& key, const char* expected, Read&& read_element) {
        const Json* value = object_.member(key, false);
        if (value == nullptr) return;
        if (!value->is_array()) return object_.problem(key, expected);
        for (std::size_t i = 0; i < value->size(); ++i)
            read_object((*value)[i], object_.pointer_of(key) + "/" + std::to_string(i), read_element);
    }

private:
    static double plain(Duration time) { return static_cast<double>(time.ns) / 1e9; }
    template <typename T>
    static double plain(T number) {
        return static_cast<double>(number);
    }

    template <typename Read>
    void read_object(const Json& value, std::string pointer, Read&& read_members) {
        Numbers inner(value, std::move(pointer), problems_, lists_);
        read_members(inner);
        inner.finish();
    }

    /// `read_value` gives the value of a member of the entry, or nothing. `min` and `max`: seconds, bytes or as
    /// it is.
    template <typename T, typename Read>
    void take(const std::string& key, Need need, double min, double max, T& into, Read&& read_value) {
        const std::optional<JsonObject> found = entry_of(key, need);
        if (!found) return;
        JsonObject entry = *found;
        const auto value = read_value(entry, "value");
        if (value) into = static_cast<T>(*value);
        UncertainNumber uncertain{entry.pointer(), 0, std::nullopt, std::nullopt, min, max};
        for (const auto& [member, bound] :
             {std::pair{"low", &uncertain.low}, std::pair{"high", &uncertain.high}}) {
            if (entry.member(member, false) == nullptr) continue;
            if (const auto read = read_value(entry, member)) *bound = plain(*read);
        }
        if (value) uncertain.value = plain(*value);
        if (value) keep(entry, std::move(uncertain));
        finish_entry(entry);
    }

    std::optional<JsonObject> entry_of(const std::string& key, Need need);
    void keep(JsonObject& entry, UncertainNumber uncertain);
    void finish_entry(JsonObject& entry);

    JsonObject object_;
    JsonProblems& problems_;
    NumberLists lists_;
};

}  // namespace streamsim::sim
