// One run over several computers, as the command line sees it.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/options/command_line.h"
#include "cli/output/cli_context.h"
#include "run/process/control.h"
#include "seats/ranks.h"
#include "streamsim/run_result.h"

namespace streamsim::cli {

/// Does `wait`, which waits for other ranks, where an interruption is heard: then it and all other waits end.
/// `meanwhile`: ten times a second.
void wait_for_ranks(
    run::Control& control,
    seats::Ranks& ranks,
    const std::function<void()>& wait,
    const std::function<void()>& meanwhile = [] {});

/// Succeeds where all ranks were given the same command line and could read it; the answer is the same in all
/// ranks. Afterwards the options are those of this rank: its seats of all seats; what rank 0 alone says and
/// writes is taken out. Errors: those of `parsed`, in rank 0 with those of the others.
Result<void> agree_on_command(CliContext& context, run::Control& control, Result<ParsedCommandLine>& parsed);

/// Success once every rank has come here with success; what it was given where there is one. Errors: of any.
Result<void> together(CommandContext& context, const Result<void>& own);

/// The first seat that did not play to its end, and why: further runs would be incomplete. Empty: none.
std::string incomplete_seat(const RunResult& result);

inline constexpr const char* kModelIsForOne =
    "a model is played by one process: give --seats, and start it without mpirun";

}  // namespace streamsim::cli
