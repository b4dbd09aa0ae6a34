// `run` with a workload.
#pragma once

#include "cli/commands/commands.h"
#include "streamsim/workload.h"

namespace streamsim::cli {

/// Plays its steps on options.where, else where it is at home; options.scale, .clients and .play.duration
/// change it.
int workload_command(CliContext& context, run::Control& control, CliOptions& options, Workload workload);

}  // namespace streamsim::cli
