// Shared state and helpers of the readers of scenarios and workloads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/document/json.h"
#include "scenario/scenario_document.h"

namespace streamsim::scenario {

/// Numbers stay far from overflow: a seat's start and a stream's are added up.
inline constexpr Duration kScenarioLongest = seconds(std::int64_t{1000} * 3600);

/// One document that is being read.
struct ScenarioReading {
    const ScenarioWords& words;
    JsonProblems& problems;
    Scenario scenario;
    std::optional<ScenarioTarget> target;  // first target of the document; all others are of the same kind
    std::uint64_t seats = 0;               // read so far
    std::string place;                     // identity of the target of the seats that are being read
    bool lacks_target = false;             // said once
    bool deadlines = true;                 // false: some streams have none

    /// Media that are made where they are missing, or lie on a model.
    struct Made {
        std::string place;
        std::string format;
        std::optional<Duration> clip_duration;
        std::string pointer;
    };
    std::vector<Made> made;

    struct NamedFormat {
        std::string identity;
        std::string pointer;
    };
    std::map<std::string, NamedFormat> formats;  // by name, as each was read first

    /// Value for a seat, by the seat's number; 0 where there is none.
    std::uint64_t streams_of(std::uint64_t seat) const;
    bool on(ScenarioTarget::Kind kind) const { return target && target->kind == kind; }
};

/// A duration of at most kScenarioLongest.
std::optional<Duration> read_scenario_time(JsonObject& object, const std::string& key, bool required);
/// The same; no time at all is a problem.
std::optional<Duration> read_scenario_length(JsonObject& object, const std::string& key, bool required);
std::uint32_t read_count(
    JsonObject& object, const char* key, std::int64_t max, std::uint32_t fallback, std::int64_t min = 1);
/// "name": letters, digits, "-", "_" and ".", as of a file; what it names has a directory and columns of it.
std::string read_load_name(JsonObject& object);
/// A size such as "64KiB", from 1 B to 1 GiB.
std::optional<std::uint64_t> read_block_bytes(const Json& value,
                                              const std::string& pointer,
                                              JsonProblems& problems);

/// Notes at `key` what is wrong with a word of the document.
template <typename T>
void note_problems(JsonObject& object, const std::string& key, const Result<T>& meaning) {
    if (meaning) return;
    for (const std::string& problem : meaning.error().problems) object.problem(key, problem);
}

/// The meaning of the word `key`, by a function of ScenarioWords.
template <typename T>
std::optional<T> read_word(JsonObject& object,
                           const std::string& key,
                           bool required,
                           const std::function<Result<T>(const std::string&)>& meaning_of) {
    const auto word = object.string(key, required);
    if (!word) return std::nullopt;
    auto meaning = meaning_of(*word);
    note_problems(object, key, meaning);
    return meaning ? std::optional(std::move(*meaning)) : std::nullopt;
}

/// The times of streams, meters or seats that begin one after the other.
struct Phase {
    Duration start;
    Duration one_more_every;
    std::optional<Duration> end;
};

/// A member that is wrong, and why.
struct MemberProblem {
    const char* key;
    std::string text;
};

/// The last of `count` begins before `end` (nullopt), or not. `plays` and `users` are words of the message. No
/// sum here leaves 64 bits: every time is at most kScenarioLongest.
std::optional<MemberProblem> begin_problem(
    const Phase& phase, std::uint64_t count, Duration end, const char* plays, const char* users);
/// The same, noted.
void check_begins(JsonObject& object,
                  const Phase& phase,
                  std::uint64_t count,
                  Duration end,
                  const char* plays = "plays",
                  const char* users = "");

/// The number of a node of the model. Notes a problem where the target has none such.
void check_node(ScenarioReading& reading, const std::string& pointer, std::uint32_t node);

/// Calls `read(element, pointer)` for each element of the array `key`.
template <typename Read>
void read_scenario_array(JsonObject& parent, const std::string& key, bool required, Read&& read) {
    const Json* value = parent.member(key, required);
    if (value == nullptr) return;
    if (!value->is_array() || (required && value->empty())) {
        parent.problem(key, required ? "expected an array that is not empty" : "expected an array");
        return;
    }
    std::size_t i = 0;
    for (const Json& element : *value) {
        if (parent.enough_problems()) return;
        read(element, parent.pointer_of(key) + "/" + std::to_string(i++));
    }
}

/// The member "faults", after the seats.
void read_scenario_faults(ScenarioReading& reading, JsonObject& document);

}  // namespace streamsim::scenario
