// The files that a run's result goes to: one table of what there is, each with its option and its writer.
#pragma once

#include <functional>
#include <vector>

#include "cli/options/options.h"
#include "cli/play/output_file.h"
#include "streamsim/run_result.h"

namespace streamsim::cli {

class ResultOutputs {
public:
    /// CompletionPollTimes whether each file that was asked for can be written, before anything is played.
    /// Errors: every problem, as OutputFile::prepare.
    static Result<ResultOutputs> prepare(const ResultFiles& files);

    /// One of them is standard output: what a person reads goes to standard error.
    bool standard_output() const;
    /// Writes all; a file that cannot be written does not keep the others. Errors: the last one that failed.
    /// Files that no reader can block are written first; `before_blocking` is called before the first of the
    /// others, and `progress` after each part of them.
    Result<void> write(const RunResult& result,
                       const std::function<void()>& before_blocking,
                       const std::function<void()>& progress);
    /// What is known so far, to the files that another result can replace. Errors: the last one that failed.
    Result<void> write_for_now(const RunResult& result);

private:
    struct Output {
        OutputFile file;
        std::size_t kind = 0;  // in the table
    };
    std::vector<Output> outputs_;
};

}  // namespace streamsim::cli
