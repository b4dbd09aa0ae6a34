// One run over several computers, as the command line sees it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "run/control.h"
#include "run/ranks.h"

namespace streamsim {

/// Does `wait`, which waits for other ranks, where an interruption is heard: then it and all other waits end.
void wait_for_ranks(Control& control, Ranks& ranks, const std::function<void()>& wait);

/// Whether all ranks were typed alike, and could read what was typed; the same answer in all of them.
/// Afterwards the options are those of this rank: its seats of all seats; what rank 0 alone says and writes is
/// taken out. Errors: those of `parsed`, in rank 0 with those of the others.
Result<void> agree_on_command(Control& control, Ranks& ranks, Result<ParsedCommandLine>& parsed);

/// Success once every rank has come here with success; what it was given where there is one. Errors: of any.
Result<void> together(CliContext& context, Control& control, const Result<void>& own);

inline constexpr const char* kModelIsForOne =
    "a model is played by one process: give --seats, and start it without mpirun";

}  // namespace streamsim
