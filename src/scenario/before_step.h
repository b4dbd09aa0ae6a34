// The member "before_step" of scenarios and workloads. Inside scenario/ only.
#pragma once

#include "base/document/json.h"
#include "streamsim/step_commands.h"

namespace streamsim::scenario {

/// A text, which is the command, or an object with "command", "counters" and "timeout". Reading runs nothing. A
/// command that would not look on a terminal as it is run is a problem: one with control characters, or with
/// characters that have no width or turn the direction of writing.
StepCommands read_before_step(JsonObject& document, JsonProblems& problems);

}  // namespace streamsim::scenario
