// `run` with a workload document.
#pragma once

#include "cli/commands/commands.h"
#include "streamsim/workload.h"

namespace streamsim::cli {

/// Plays the steps of a workload on options.target, else on the default target of the document; options.scale,
/// .clients and .play.duration change the workload.
int workload_command(CliContext& context, run::Control& control, CliOptions& options, Workload workload);

}  // namespace streamsim::cli
