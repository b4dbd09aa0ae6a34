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

/// What a target is, as far as a scenario cares.
struct ScenarioTarget {
    enum class Kind {
        files,
        null,          // completes at once, in real time
        null_virtual,  // and in virtual time
        model,
    };
    Kind kind = Kind::files;
    std::string playback_loop;  // targets can be played together where this is equal
    std::uint32_t nodes = 0;    // of a model; 0: not known
    std::uint32_t drives = 0;   // of each node; 0: not known
    std::string place;          // of files: equal where it is the same directory or clip
};

/// Words whose meaning other rooms know; each is asked for what a document says, and an error becomes a problem
/// of that place.
struct ScenarioWords {
    std::function<Result<MediaFormat>(const std::string&)> format;
    std::function<Result<ScenarioTarget>(const std::string&)> target;
    std::function<Result<Workload>(const std::string&)> workload;
    std::function<Result<void>(const std::string&)> order;
    std::function<Result<void>(const std::string&)> error_name;
};

/// Errors: bad input, every problem with `source` and its JSON pointer.
Result<Scenario> read_scenario(std::string_view text, const std::string& source, const ScenarioWords& words);

}  // namespace streamsim::scenario
