// The commands. Each returns the exit code of the contract: 0 pass, 1 it ran and frames were missed, 2 bad
// input, 3 it could not run, 130 interrupted.
#pragma once

#include <spdlog/logger.h>

#include "cli/options/options.h"
#include "cli/play/output_file.h"
#include "run/session/session.h"

namespace streamsim::run {
class Control;
}  // namespace streamsim::run

namespace streamsim::seats {
class Ranks;
}  // namespace streamsim::seats

namespace streamsim::cli {

inline constexpr int kExitPass = 0;
inline constexpr int kExitMissed = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitCannotRun = 3;
inline constexpr int kExitInterrupted = 130;

/// Where a command's words go; messages to standard error, results to standard output.
struct CliContext {
    spdlog::logger& log;
    run::ProgramFacts program;
    seats::Ranks* ranks = nullptr;  // of one run over several computers; null: this is the only one
};

/// A page for people to standard output or standard error: what a terminal would take for a command is made
/// visible, but for the page's own colours. Errors of standard output are kept for final_code().
void print_text(std::FILE* to, std::string_view text);

/// The exit code of a command that ends with `code`: 3, with a sentence, where standard output has not taken
/// everything and it would have been 0 or 1.
int final_code(int code);

/// Says every problem and gives the exit code.
int report_error(CliContext& context, const Error& error);

/// The document to `path`, which may be "-"; REQUIRES: path is not empty.
Result<void> write_document(const std::string& path, std::string_view begins_with, const std::string& text);

/// For sizes that are computed: rounded to the nearest.
std::uint64_t nearest_whole(double value);

int play_command(CliContext& context, run::Control& control, CliOptions& options);
int prepare_command(CliContext& context, run::Control& control, CliOptions& options);
int formats_command(CliContext& context, const CliOptions& options);
int inspect_command(CliContext& context, run::Control& control, const CliOptions& options);
int max_command(CliContext& context, run::Control& control, CliOptions& options);
int profile_command(CliContext& context, run::Control& control, const CliOptions& options);
int report_command(CliContext& context, const CliOptions& options);
int run_command(CliContext& context, run::Control& control, CliOptions& options);
int clean_command(CliContext& context, run::Control& control, const CliOptions& options);

}  // namespace streamsim::cli
