// One run over several computers, as the command line sees it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "cli/options/command_line.h"
#include "cli/output/cli_context.h"
#include "cli/play/run_journal.h"
#include "run/process/control.h"
#include "seats/ranks.h"

namespace streamsim::cli {

/// Does `wait`, which waits for other ranks, where an interruption is heard: then it and all other waits end.
void wait_for_ranks(run::Control& control, seats::Ranks& ranks, const std::function<void()>& wait);

/// Succeeds where all ranks were given the same command line and could read it; the answer is the same in all
/// ranks. Afterwards the options are those of this rank: its seats of all seats; what rank 0 alone says and
/// writes is taken out. Errors: those of `parsed`, in rank 0 with those of the others.
Result<void> agree_on_command(CliContext& context, run::Control& control, Result<ParsedCommandLine>& parsed);

/// Success once every rank has come here with success; what it was given where there is one. Errors: of any.
Result<void> together(CliContext& context, run::Control& control, const Result<void>& own);

/// Returns the directory of the journals: the one of --journal; else the directory of the result.
std::string journal_directory(const CliOptions& options);
/// This rank's, in its journal.
RunPart part_of_ranks(seats::Ranks& ranks);

/// The state of a session's streams, as ranks tell it to each other.
seats::RankProgress progress_of(const run::Session::Watch& watch);

/// The state of the streams of all ranks while they play, for rank 0's live view.
class AllRanks {
public:
    AllRanks(const seats::Ranks* ranks, const run::Session& session) : ranks_(ranks), session_(session) {}
    /// "4 of 4 ranks: 8 streams, 960.0 MB/s of 955.2 MB/s, 0 missed". REQUIRES: there are ranks.
    std::string text(std::int64_t now_ns);

private:
    const seats::Ranks* ranks_;
    const run::Session& session_;
    std::int64_t since_ns_ = 0;  // when since_bytes_ was taken
    std::uint64_t since_bytes_ = 0;
    double bytes_per_s_ = 0;
};

inline constexpr const char* kModelIsForOne =
    "a model is played by one process: give --seats, and start it without mpirun";

}  // namespace streamsim::cli
