// One run over several computers, as the command line sees it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/options/options.h"
#include "cli/play/run_journal.h"
#include "run/process/control.h"
#include "seats/ranks.h"

namespace streamsim::cli {

/// Does `wait`, which waits for other ranks, where an interruption is heard: then it and all other waits end.
void wait_for_ranks(run::Control& control, seats::Ranks& ranks, const std::function<void()>& wait);

/// Whether all ranks were typed alike, and could read what was typed; the same answer in all of them.
/// Afterwards the options are those of this rank: its seats of all seats; what rank 0 alone says and writes is
/// taken out. Errors: those of `parsed`, in rank 0 with those of the others.
Result<void> agree_on_command(CliContext& context, run::Control& control, Result<ParsedCommandLine>& parsed);

/// Success once every rank has come here with success; what it was given where there is one. Errors: of any.
Result<void> together(CliContext& context, run::Control& control, const Result<void>& own);

/// Where journals are kept: in the directory that was asked for; else beside the result.
std::string journal_directory(const CliOptions& options);
/// This rank's, in its journal.
RunPart part_of_ranks(seats::Ranks& ranks);

/// How the streams of all ranks stand while they play, in rank 0's live view.
class AllRanks {
public:
    AllRanks(const seats::Ranks* ranks, const run::Session& session) : ranks_(ranks), session_(session) {}
    /// "4 of 4 ranks: 8 streams, 960.0 MB/s of 955.2 MB/s, 0 not in time". REQUIRES: there are ranks.
    std::string text(std::int64_t now_ns);

private:
    const seats::Ranks* ranks_;
    const run::Session& session_;
    std::int64_t since_ns_ = 0;  // of the bytes that the rate counts from
    std::uint64_t since_bytes_ = 0;
    double bytes_per_s_ = 0;
};

inline constexpr const char* kModelIsForOne =
    "a model is played by one process: give --seats, and start it without mpirun";

}  // namespace streamsim::cli
