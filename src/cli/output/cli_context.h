// The output of a command, and the exit codes: 0 pass, 1 it ran and frames were missed, 2 bad input, 3 it
// could not run, 130 interrupted.
#pragma once

#include <spdlog/logger.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "run/session/session.h"

namespace streamsim::run {
class Control;
}  // namespace streamsim::run

namespace streamsim::seats {
class Ranks;
}  // namespace streamsim::seats

namespace streamsim::view {
class WebServer;
}  // namespace streamsim::view

namespace streamsim::cli {

struct CliOptions;

inline constexpr int kExitPass = 0;
inline constexpr int kExitMissed = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitCannotRun = 3;
inline constexpr int kExitInterrupted = 130;

/// Messages go to standard error, results to standard output.
struct CliContext {
    spdlog::logger& log;
    run::ProgramFacts program;
    seats::Ranks* ranks = nullptr;  // the other processes of the run; null: this is the only one
    std::shared_ptr<view::WebServer> page = nullptr;  // of --web, where it listens already
};

/// A command whose options were read.
struct CommandContext : CliContext {
    run::Control& control;
    CliOptions& options;
    /// Does the command of another command line, as this process was started with it.
    int (*run_words)(CliContext& context, run::Control& control) = nullptr;

    /// For a part of the command that has options of its own.
    CommandContext with(CliOptions& other) const {
        return {static_cast<const CliContext&>(*this), control, other};
    }
};

/// Prints a page for people to standard output or standard error: control characters become visible, but for
/// the page's own colours. Errors of standard output are kept for final_code().
void print_text(std::FILE* to, std::string_view text);

/// The exit code of a command that ends with `code`: 3, with a sentence, where standard output has not taken
/// everything and the code would have been 0 or 1.
int final_code(int code);

/// Prints every problem and returns the exit code.
int report_error(CliContext& context, const Error& error);

/// Writes a document to `path`, which may be "-". REQUIRES: path is not empty.
Result<void> write_document(const std::string& path, std::string_view begins_with, const std::string& text);

/// For sizes that are computed: rounded to the nearest.
std::uint64_t nearest_whole(double value);

}  // namespace streamsim::cli
