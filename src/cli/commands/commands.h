// The commands. Each returns its exit code (cli_context.h).
#pragma once

#include "cli/options/options.h"
#include "cli/output/cli_context.h"

namespace streamsim::run {
class Control;
}  // namespace streamsim::run

namespace streamsim::cli {

int play_command(CliContext& context, run::Control& control, CliOptions& options);
int prepare_command(CliContext& context, run::Control& control, CliOptions& options);
int formats_command(CliContext& context, const CliOptions& options);
int inspect_command(CliContext& context, run::Control& control, const CliOptions& options);
int max_command(CliContext& context, run::Control& control, CliOptions& options);
int profile_command(CliContext& context, run::Control& control, const CliOptions& options);
int report_command(CliContext& context, const CliOptions& options);
int run_command(CliContext& context, run::Control& control, CliOptions& options);
int clean_command(CliContext& context, run::Control& control, const CliOptions& options);
int man_command(const CliContext& context);
int completions_command(const CliOptions& options);

}  // namespace streamsim::cli
