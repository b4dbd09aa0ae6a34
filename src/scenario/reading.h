// Shared state and helpers of the readers of a scenario's parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
    bool deadlines = true;                 // false: some streams have none

    /// Media that are made where they are missing, or lie on a model.
    struct Made {
        std::string place;
        std::string format;
        std::optional<Duration> clip_duration;
        std::string pointer;
    };
    std::vector<Made> made;

    /// Value for a seat, by the seat's number; 0 where there is none.
    std::uint64_t streams_of(std::uint64_t seat) const;
    bool on(ScenarioTarget::Kind kind) const { return target && target->kind == kind; }
};

/// A duration of at most kScenarioLongest.
std::optional<Duration> read_scenario_time(JsonObject& object, const std::string& key, bool required);

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
