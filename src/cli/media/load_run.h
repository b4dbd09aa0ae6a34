// The common base of the commands that play workloads, one step after the other, alone or on several computers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/media/media_run.h"

namespace streamsim::cli {

class LoadRun : public MediaRun {
protected:
    using MediaRun::MediaRun;

    /// Client i of a step is on rank i % ranks: on the same computer in every step.
    void take_own_clients(run::PlayRequest& request, std::size_t step);
    /// Makes the files of a step, in every rank.
    Result<void> prepare_files(run::PlayRequest& request);
    /// Plays a step in every rank. The result is that of all ranks in rank 0. Errors: of any rank.
    Result<RunResult> play_all(const run::PlayRequest& request, const std::string& about);
    /// The error of another rank, after a step that this one has played.
    const std::optional<Error>& ended_by() const { return ended_by_; }

private:
    std::optional<Error> ended_by_;
};

}  // namespace streamsim::cli
