// The commands that a scenario or a workload asks for around its steps. A document may come from anywhere:
// nothing of it is run unless the user allows it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"
#include "streamsim/step_commands.h"
#include "streamsim/workload.h"
#include "target/target.h"

namespace streamsim::cli {

/// This process would run commands, and its system runs none.
bool lacks_shell(const CliOptions& options);

/// Adds the commands of a document to those that were typed, which replace them: an option with an empty text
/// leaves out the document's command. Runs nothing. Errors: bad input, for each command of the document that is
/// left while --allow-commands was not given, with the command itself; where commands are asked for and the
/// target has no files, or this system runs none.
Result<void> take_commands(const std::string& source,
                           const StepCommands& document,
                           const target::Target& target,
                           CliOptions& options);

/// A workload beside streams runs no commands: adds a remark where it asks for some.
void add_commands_without_effect(const Workload& workload, std::vector<std::string>& remarks);

}  // namespace streamsim::cli
