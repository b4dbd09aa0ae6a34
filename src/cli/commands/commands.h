// The commands. Each returns its exit code (cli_context.h).
#pragma once

#include <string>

#include "cli/options/options.h"
#include "cli/output/cli_context.h"
#include "streamsim/workload.h"

namespace streamsim::cli {

int play_command(CommandContext& context);
int prepare_command(CommandContext& context);
int formats_command(CommandContext& context);
int inspect_command(CommandContext& context);
int max_command(CommandContext& context);
int plan_command(CommandContext& context);
int profile_command(CommandContext& context);
int report_command(CommandContext& context);
int run_command(CommandContext& context);
int clean_command(CommandContext& context);

/// `run published`
int published_command(CommandContext& context);
/// `inspect MODEL --sensitivity`: `model` is a name or a file.
int sensitivity_command(CommandContext& context, const std::string& model);

/// `run` with a workload: plays its steps on options.target, else on the default target of the document;
/// options.scale, .clients and .play.duration change the workload.
int workload_command(CommandContext& context, Workload workload);

}  // namespace streamsim::cli
