// What the parts of a scenario document are read with.
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
    std::optional<ScenarioTarget> target;  // of the first group whose target is one; all are of its world
    std::uint64_t seats = 0;               // read so far
    std::string place;                     // of the target of the seats that are being read
    bool deadlines = true;                 // false: some streams have none

    /// Media that are made where they are missing, or lie on a model.
    struct Made {
        std::string place;
        std::string format;
        std::optional<Duration> clip_duration;
        std::string pointer;
    };
    std::vector<Made> made;

    /// Of a seat, by its number; 0 where there is none.
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
