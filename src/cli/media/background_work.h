// Work of a command that blocks: on a thread of its own, so that a person can watch and interrupt it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "cli/output/cli_context.h"
#include "run/process/control.h"
#include "streamsim/media.h"

namespace streamsim::cli {

struct CliOptions;

/// Work that takes less is not announced.
inline constexpr Duration kSilentFor = seconds(2);

class BackgroundWork {
public:
    /// `looks_at`: the target whose media the work looks at; empty: nothing is said about that.
    BackgroundWork(CliContext& context,
                   run::Control& control,
                   const CliOptions& options,
                   std::string looks_at = "");

    /// Runs `function`; says once, after some seconds, what it looks at. Errors: those of `function`;
    /// interrupted, soon after the signal. Then `function` may still run (left_behind()), and what it refers to
    /// has to stay.
    template <typename T>
    Result<T> run(std::function<Result<T>()> function);
    Result<void> run(std::function<Result<void>()> function);
    /// As run(), with a bar or a count of clips where it takes long.
    template <typename T>
    Result<T> index(std::function<Result<T>(IndexProgress&)> index, const char* what = "reading clips");
    /// Writes `bytes` with a bar. `stop`, asked ten times a second, ends it. Errors: those of `write`;
    /// interrupted.
    Result<void> write(const char* what,
                       std::uint64_t bytes,
                       const std::function<bool()>& stop,
                       std::function<Result<void>(media::PrepareProgress&)> write);

    /// The work looks at nothing worth an announcement any more, or a question is on the screen.
    void keep_silent() { said_ = true; }
    /// A thread is still in a call that does not return: the process has to end by leave_process().
    bool left_behind() const { return left_behind_; }
    void leave_behind() { left_behind_ = true; }

private:
    void say_when_it_takes_long();
    std::function<void()> index_tick(const IndexProgress& progress, const char* what);
    /// False: the work still runs, or its result does not count.
    bool wait_for(run::Control::Work work);

    CliContext& context_;
    run::Control& control_;
    const CliOptions& options_;
    const std::string looks_at_;
    bool left_behind_ = false;
    std::int64_t begun_ns_ = 0;  // 0: nothing has run yet
    bool said_ = false;
};

template <typename T>
Result<T> BackgroundWork::run(std::function<Result<T>()> function) {
    const auto result = std::make_shared<std::optional<Result<T>>>();  // as long as the thread lives
    const bool ended = wait_for({[function = std::move(function), result] { result->emplace(function()); },
                                 {},
                                 [this] { say_when_it_takes_long(); }});
    if (!ended) return interrupted_error();
    return std::move(**result);
}

template <typename T>
Result<T> BackgroundWork::index(std::function<Result<T>(IndexProgress&)> index, const char* what) {
    struct Shared {  // lives as long as the thread that reads
        IndexProgress progress;
        std::optional<Result<T>> result;
    };
    const auto shared = std::make_shared<Shared>();
    run::Control::Work work;
    work.run = [shared, index = std::move(index)] { shared->result.emplace(index(shared->progress)); };
    work.on_interrupt = [shared] { shared->progress.cancel = true; };
    work.on_tick = index_tick(shared->progress, what);
    if (!wait_for(std::move(work))) return interrupted_error();
    return std::move(*shared->result);
}

/// Ends the process while something of it is still in a call that does not return.
[[noreturn]] void leave_process(int code);
/// The exit code of a command whose work is done; where some was left behind the process ends here.
int end_command(const BackgroundWork& work, int code);

}  // namespace streamsim::cli
