// Scenarios as JSON (schema "streamsim.scenario", formats/schema/scenario.json), read strictly.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "streamsim/media.h"
#include "streamsim/scenario.h"
#include "streamsim/workload.h"

namespace streamsim::scenario {

/// The facts about a target that a scenario needs.
struct ScenarioTarget {
    enum class Kind {
        files,
        null,          // completes at once, in real time
        null_virtual,  // and in virtual time
        model,
    };
    Kind kind = Kind::files;
    std::string storage;       // the storage in words; targets with equal words can be played together
    std::uint32_t nodes = 0;   // model only; 0: unknown
    std::uint32_t drives = 0;  // drives of each node; 0: unknown
    std::string place;         // files only: equal for the same directory or clip
};

struct ScenarioFormat {
    MediaFormat format;
    std::string identity;  // equal where the frames of two formats are
};

/// Words whose meaning other modules know. The reader calls a function for each such word of a document; an
/// error becomes a problem at the word's place.
struct ScenarioWords {
    std::function<Result<ScenarioFormat>(const std::string&)> format;
    std::function<Result<ScenarioTarget>(const std::string&)> target;
    std::function<Result<Workload>(const std::string&)> workload;
    std::function<Result<void>(const std::string&)> order;
    std::function<Result<void>(const std::string&)> error_name;
    std::string target_of_command;  // for seats that name none; empty: none was given
};

/// Errors: bad input, every problem with `source` and its JSON pointer.
Result<Scenario> read_scenario(std::string_view text, const std::string& source, const ScenarioWords& words);

}  // namespace streamsim::scenario
