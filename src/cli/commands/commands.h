// The commands. Each returns its exit code (cli_context.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"
#include "cli/output/cli_context.h"
#include "run/prediction/prediction.h"
#include "streamsim/max_result.h"
#include "streamsim/workload.h"

namespace streamsim::cli {

int play_command(CommandContext& context);
int prepare_command(CommandContext& context);
int formats_command(CommandContext& context);
int inspect_command(CommandContext& context);
int max_command(CommandContext& context);
int predict_command(CommandContext& context);
int plan_command(CommandContext& context);
int profile_command(CommandContext& context);
int report_command(CommandContext& context);
int run_command(CommandContext& context);
int host_command(CommandContext& context);
int join_command(CommandContext& context);
int calibrate_command(CommandContext& context);
int clean_command(CommandContext& context);

/// The search of `max` for another command: prints no result. Errors: its own, which it has printed;
/// environment where a seat was lost or interrupted. The result of a rank that follows is empty.
Result<MaxResult> search_most(CommandContext& context);
class BackgroundWork;
/// Options of a prediction: --draws, else `standard`, and --headroom.
run::PredictionOptions prediction_options(CommandContext& context, std::uint32_t standard);
/// The answer of a calibrated model to a play, over draws; says why where there is none. nullopt: the model's
/// numbers are certain, there is no model, --draws is 0, or it was interrupted.
std::optional<Prediction> predict_whether_it_plays(CommandContext& context,
                                                   BackgroundWork& work,
                                                   run::PartsToPlay what);

/// The same of the most streams of the request's only format. `nominal`: as run::predict_most.
std::optional<Prediction> predict_most_streams(CommandContext& context,
                                               BackgroundWork& work,
                                               const run::PlayRequest& request,
                                               std::optional<std::uint64_t> nominal);

/// The targets that `run`, `max` or `calibrate` on so many computers will use, of its options and its document;
/// none where the document can be read only once. Errors: of the document; a model is played by one process;
/// what the command would refuse before it looks at the target.
Result<std::vector<std::string>> targets_of(CommandContext& context, std::uint32_t computers);
/// They refuse what `max`, `calibrate` and `run` with a workload would refuse before they look at the target,
/// and write nothing. Errors: bad input; environment where a file cannot be written.
Result<void> check_max(const CliOptions& options);
Result<void> check_calibration(CommandContext& context);
Result<void> check_workload(CommandContext& context, Workload workload);

/// `run published`
int published_command(CommandContext& context);
/// `inspect MODEL --sensitivity`: `model` is a name or a file.
int sensitivity_command(CommandContext& context, const std::string& model);

/// `run` with a workload: plays its steps on options.target, else on the default target of the document;
/// options.scale, .clients and .play.duration change the workload.
int workload_command(CommandContext& context, Workload workload);

}  // namespace streamsim::cli
