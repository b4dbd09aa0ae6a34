// Work of a command that blocks: on a thread of its own, so that a person can watch and interrupt it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "cli/output/cli_context.h"
#include "run/process/control.h"
#include "streamsim/media.h"

namespace streamsim::cli {

/// Work that takes less is not announced.
inline constexpr Duration kFirstMessageAfter = seconds(2);
/// For work that ends by itself once it is asked to, after the play on a model that it is in.
inline constexpr Duration kStopTimeout = seconds(10);

class BackgroundWork {
public:
    /// `looks_at`: the target whose media the work looks at; empty: nothing is said about that.
    explicit BackgroundWork(CommandContext& context, std::string looks_at = "")
        : context_(context), looks_at_(std::move(looks_at)) {}

    /// Runs `function`, which returns a Result; says once, after some seconds, what it looks at. Errors: those
    /// of `function`; interrupted, soon after the signal. Then `function` may still run (left_behind()), and
    /// what it refers to has to stay. `on_tick` is called in this thread, ten times a second.
    template <typename Function>
    std::invoke_result_t<Function&> run(Function function, std::function<void()> on_tick = {});
    /// As run(), of work that `stop` asks to end: what it then returns counts. Errors: those of `function`;
    /// interrupted where it did not end in time.
    template <typename Function>
    std::invoke_result_t<Function&> run_until_stopped(Function function, const std::function<void()>& stop);
    /// As run(), with a bar or a count of clips where it takes long.
    template <typename Function>
    std::invoke_result_t<Function&, IndexProgress&> index(Function index, const char* what = "reading clips");

    /// The work looks at nothing worth an announcement any more, or a question is on the screen.
    void suppress_messages() { said_ = true; }
    /// A thread is still in a call that does not return: the process has to end by leave_process().
    bool left_behind() const { return left_behind_; }
    void leave_behind() { left_behind_ = true; }

private:
    void say_when_it_takes_long();
    std::function<void()> index_tick(const IndexProgress& progress, const char* what);
    /// False: the work still runs, or its result does not count.
    bool wait_for(run::Control::Work work);

    CommandContext& context_;
    const std::string looks_at_;
    bool left_behind_ = false;
    std::int64_t begun_ns_ = 0;  // 0: nothing has run yet
    bool said_ = false;
};

template <typename Function>
std::invoke_result_t<Function&> BackgroundWork::run(Function function, std::function<void()> on_tick) {
    using Outcome = std::invoke_result_t<Function&>;
    const auto result = std::make_shared<std::optional<Outcome>>();  // as long as the thread lives
    const bool ended = wait_for({[function = std::move(function), result] { result->emplace(function()); },
                                 {},
                                 [this, on_tick = std::move(on_tick)] {
                                     say_when_it_takes_long();
                                     if (on_tick) on_tick();
                                 }});
    if (!ended) return interrupted_error();
    return std::move(**result);
}

template <typename Function>
std::invoke_result_t<Function&> BackgroundWork::run_until_stopped(Function function,
                                                                  const std::function<void()>& stop) {
    using Outcome = std::invoke_result_t<Function&>;
    const auto result = std::make_shared<std::optional<Outcome>>();
    const bool counts =
        wait_for({.run = [function = std::move(function), result] { result->emplace(function()); },
                  .on_interrupt = stop,
                  .on_tick = [this] { say_when_it_takes_long(); },
                  .timeout = kStopTimeout});
    if (!counts && left_behind_) return interrupted_error();
    return std::move(**result);
}

template <typename Function>
std::invoke_result_t<Function&, IndexProgress&> BackgroundWork::index(Function index, const char* what) {
    struct Shared {  // lives as long as the thread that reads
        IndexProgress progress;
        std::optional<std::invoke_result_t<Function&, IndexProgress&>> result;
    };
    const auto shared = std::make_shared<Shared>();
    const bool ended =
        wait_for({[shared, index = std::move(index)] { shared->result.emplace(index(shared->progress)); },
                  [shared] { shared->progress.cancel = true; }, index_tick(shared->progress, what)});
    if (!ended) return interrupted_error();
    return std::move(*shared->result);
}

/// Ends the process while something of it is still in a call that does not return.
[[noreturn]] void leave_process(int code);
/// The exit code of a command whose work is done; where some was left behind the process ends here.
int end_command(const BackgroundWork& work, int code);

}  // namespace streamsim::cli
