// The commands of the user around each step: one before it, and one that prints counters before and after it.
// Only the process that leads a run starts them, and only those of its own command line and document: no
// command comes from another computer.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/output/cli_context.h"
#include "run/process/counters.h"
#include "run/process/shell_command.h"
#include "run/session/session.h"
#include "streamsim/run_result.h"
#include "streamsim/step_commands.h"

namespace streamsim::cli {

class StepRunner {
public:
    explicit StepRunner(CommandContext& context) : context_(context) {}

    /// A step: `target` and `value` become STREAMSIM_TARGET and
    /// STREAMSIM_VALUE.
    struct Step {
        std::string target;
        std::string value;
    };
    /// The number of steps that there will be, for the messages; 0: not known.
    void expect(std::size_t steps) { steps_ = steps; }
    /// The next step begins: forgets what belongs to the one before.
    void begin(Step step);
    bool has_command() const;
    /// Runs the command of the step. REQUIRES: begin(). Errors: environment, with the last lines of its output;
    /// interrupted.
    Result<void> run_before();
    /// Reads the counters before the step. Errors: the same.
    Result<void> count_before();
    /// Reads the counters again when the session has played.
    void count_after(run::Session& session);
    /// Puts what was run into the result of the step.
    void record(RunResult& result) const;

    /// A thread still waits for a command that has not ended: the process has to end by _exit.
    bool left_behind() const { return left_behind_; }

private:
    Result<run::ShellOutcome> run(const std::string& command, bool speaks);
    Result<run::CounterReading> counters_of(const run::ShellOutcome& outcome) const;
    Error failure(const char* what, const std::string& command, const run::ShellOutcome& outcome) const;
    run::ShellCommand shell_command(const std::string& command) const;
    std::string step_text() const;
    void read_after();

    CommandContext& context_;
    Step step_;
    std::size_t number_ = 0, steps_ = 0;
    bool left_behind_ = false;
    std::optional<BeforeStep> before_;
    std::optional<run::CounterReading> counters_before_, counters_after_;
    std::string problem_after_;        // why there are no counters after the step
    std::atomic<bool> cancel_{false};  // of the command that runs after play
};

}  // namespace streamsim::cli
