#include "cli/play/step_runner.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/units.h"
#include "base/utf8.h"
#include "cli/options/options.h"
#include "judge/cold_reads.h"
#include "run/process/control.h"

namespace streamsim::cli {
namespace {

constexpr std::size_t kLastLines = 5;
constexpr std::size_t kCommandShownBytesMax = 300;
constexpr std::int64_t kStillRunningNs = 10'000'000'000;

std::string shown(const std::string& command) {
    std::string text = printable(command);
    if (text.size() <= kCommandShownBytesMax) return text;
    return printable(text.substr(0, kCommandShownBytesMax)) + "...";
}

/// The last lines that are not empty, each printable.
std::vector<std::string> last_lines(const std::string& output) {
    std::vector<std::string> lines;
    for (const std::string_view line : split(output, '\n')) {
        if (!line.empty()) lines.push_back(printable(line));
    }
    if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
    return lines;
}

std::uint64_t bytes_read_in(const RunResult& result) {
    std::uint64_t bytes = result.totals.bytes_read;
    for (const MeterResult& meter : result.meters)
        bytes += meter.operations[static_cast<std::size_t>(LoadOperation::read)].bytes;
    return bytes;
}

}  // namespace

void StepRunner::begin(Step step) {
    step_ = std::move(step);
    ++number_;
    before_.reset();
    counters_before_.reset();
    counters_after_.reset();
    problem_after_.clear();
}

bool StepRunner::has_command() const {
    return !context_.options.step.command.empty();
}

/// "step 3 of 7"
std::string StepRunner::step_text() const {
    const std::string of = steps_ == 0 ? "" : fmt::format(" of {}", steps_);
    return fmt::format("step {}{}", number_, of);
}

run::ShellCommand StepRunner::shell_command(const std::string& command) const {
    return {command,
            {{"STREAMSIM_TARGET", step_.target},
             {"STREAMSIM_STEP", std::to_string(number_)},
             {"STREAMSIM_VALUE", step_.value}},
            context_.options.step.timeout,
            kCommandOutputBytesMax};
}

/// Runs a command on a thread of its own, where a signal ends it. `speaks`: a person is told what is waited
/// for.
Result<run::ShellOutcome> StepRunner::run(const std::string& command, bool speaks) {
    struct Shared {  // lives as long as the thread that waits for the command
        std::atomic<bool> cancel{false};
        std::optional<Result<run::ShellOutcome>> outcome;
    };
    const auto shared = std::make_shared<Shared>();
    const bool quiet = context_.options.quiet || !speaks;
    if (!quiet) context_.log.info(fmt::format("before {}: {}", step_text(), shown(command)));
    const std::int64_t begin_ns = context_.control.now_ns();
    std::int64_t said_ns = begin_ns;
    run::Control::Work work;
    work.run = [shared, what = shell_command(command)] {
        shared->outcome.emplace(run::run_shell(what, shared->cancel));
    };
    work.on_interrupt = [shared] { shared->cancel = true; };
    work.on_tick = [&] {
        const std::int64_t now_ns = context_.control.now_ns();
        if (quiet || now_ns - said_ns < kStillRunningNs) return;
        said_ns = now_ns;
        context_.log.info(fmt::format("before {}: the command runs for {} s so far, {} at most", step_text(),
                                      (now_ns - begin_ns) / 1'000'000'000,
                                      show_duration(context_.options.step.timeout)));
    };
    left_behind_ |= !context_.control.run(std::move(work));
    if (left_behind_ || context_.control.interrupted()) return interrupted_error();
    return std::move(*shared->outcome);
}

Error StepRunner::failure(const char* what,
                          const std::string& command,
                          const run::ShellOutcome& outcome) const {
    Error error = environment_error(
        fmt::format("before {}: the {} {}, so that the step is not measured: {}", step_text(), what,
                    outcome.how_it_ended(context_.options.step.timeout), shown(command)));
    for (const std::string& line : last_lines(outcome.output))
        error.problems.push_back("  its output: " + line);
    return error;
}

Result<void> StepRunner::run_before() {
    const std::string& command = context_.options.step.command;
    if (command.empty()) return {};
    auto outcome = run(command, true);
    if (!outcome) return outcome.error();
    if (!outcome->succeeded()) return failure("command", command, *outcome);
    before_ = BeforeStep{command, std::move(outcome->output), outcome->output_omitted_bytes, outcome->exit_code,
                         outcome->duration.ns};
    return {};
}

Result<run::CounterReading> StepRunner::counters_of(const run::ShellOutcome& outcome) const {
    const std::string& command = context_.options.step.counters;
    if (!outcome.succeeded()) return failure("command that prints counters", command, outcome);
    const auto wrong = [&](const std::string& problem) {
        return environment_error(
            fmt::format("{}: counters are not known: {}: {}", step_text(), problem, shown(command)));
    };
    if (outcome.output_omitted_bytes > 0)
        return wrong(fmt::format("it printed more than {}", show_io_size(kCommandOutputBytesMax)));
    auto reading = run::read_counters(outcome.output);
    if (!reading) return wrong(reading.error().problems.front());
    return reading;
}

Result<void> StepRunner::count_before() {
    const std::string& command = context_.options.step.counters;
    if (command.empty()) return {};
    const auto outcome = run(command, false);
    if (!outcome) return outcome.error();
    auto reading = counters_of(*outcome);
    if (!reading) return reading.error();
    counters_before_ = std::move(*reading);
    return {};
}

void StepRunner::count_after(run::Session& session) {
    if (!counters_before_) return;
    cancel_ = false;
    session.after_play([this] { read_after(); }, [this] { cancel_ = true; });
}

/// On the session's thread.
void StepRunner::read_after() {
    const auto outcome = run::run_shell(shell_command(context_.options.step.counters), cancel_);
    if (cancel_) return;
    auto reading = outcome ? counters_of(*outcome) : outcome.error();
    if (reading) counters_after_ = std::move(*reading);
    if (!reading) problem_after_ = reading.error().problems.front();
}

void StepRunner::record(RunResult& result) const {
    result.before_step = before_;
    if (!counters_before_) return;
    if (!counters_after_) {
        result.notices.push_back("no counters after the step: " +
                                 (problem_after_.empty() ? "it was interrupted" : problem_after_));
        return;
    }
    Counters counters{context_.options.step.counters, run::changes_between(*counters_before_, *counters_after_),
                      bytes_read_in(result)};
    judge::ColdReadsFinding found = judge::find_cold_reads(counters.values, counters.bytes_read,
                                                           result.client.page_cache_bytes.value_or(0));
    counters.reads = found.reads;
    counters.summary = std::move(found.summary);
    for (const std::string& name : run::not_in_both(*counters_before_, *counters_after_))
        result.notices.push_back(
            fmt::format("the counter {} was not printed before and after the step", printable(name)));
    if (counters_before_->other_lines > 0)
        result.notices.push_back(fmt::format("{} of the counters' command held no counter: {}",
                                             counted(counters_before_->other_lines, "line"),
                                             counters_before_->first_other));
    result.counters = std::move(counters);
}

}  // namespace streamsim::cli
