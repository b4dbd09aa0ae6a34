#include "cli/media/background_work.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

#include "cli/options/options.h"
#include "media/write/media_set.h"
#include "view/live_view.h"
#include "view/progress_bar.h"

namespace streamsim::cli {

BackgroundWork::BackgroundWork(CliContext& context,
                               run::Control& control,
                               const CliOptions& options,
                               std::string looks_at)
    : context_(context), control_(control), options_(options), looks_at_(std::move(looks_at)) {}

bool BackgroundWork::wait_for(run::Control::Work work) {
    const bool ended = control_.run(std::move(work));
    left_behind_ = left_behind_ || !ended;
    return ended && !control_.interrupted();
}

void BackgroundWork::say_when_it_takes_long() {
    const std::int64_t now_ns = control_.now_ns();
    if (begun_ns_ == 0) begun_ns_ = now_ns;
    if (looks_at_.empty() || options_.quiet || now_ns - begun_ns_ < kSilentFor.ns) return;
    if (!std::exchange(said_, true))
        context_.log.info("looking for media and for runs that use them in {}", looks_at_);
}

Result<void> BackgroundWork::run(std::function<Result<void>()> function) {
    const auto done = run<bool>([function = std::move(function)]() -> Result<bool> {
        if (auto result = function(); !result) return result.error();
        return true;
    });
    return done ? Result<void>() : Result<void>(done.error());
}

std::function<void()> BackgroundWork::index_tick(const IndexProgress& progress, const char* what) {
    if (options_.quiet) return {};
    const auto bar = std::make_shared<std::optional<view::ProgressBar>>();
    return [this, &progress, what, bar, begin_ns = control_.now_ns(),
            terminal = view::LiveView::possible(STDERR_FILENO)] {
        const std::int64_t elapsed_ns = control_.now_ns() - begin_ns;
        const std::uint64_t total = progress.bytes_total;
        if (total == 0 && elapsed_ns < kSilentFor.ns) return;
        if (!*bar || (**bar).total_bytes() != total) bar->emplace(STDERR_FILENO, terminal, what, total);
        if (total == 0) {
            (**bar).update_count(progress.clips_done, progress.clips_total, elapsed_ns);
        } else if (terminal) {
            (**bar).update(progress.bytes_done, elapsed_ns);
        }
    };
}

Result<void> BackgroundWork::write(const char* what,
                                   std::uint64_t bytes,
                                   const std::function<bool()>& stop,
                                   std::function<Result<void>(media::PrepareProgress&)> write) {
    struct Shared {  // lives as long as the thread that writes
        std::function<Result<void>(media::PrepareProgress&)> write;
        media::PrepareProgress progress;
        std::optional<Result<void>> result;
    };
    const auto shared = std::make_shared<Shared>();
    shared->write = std::move(write);
    view::ProgressBar bar(STDERR_FILENO, view::LiveView::possible(STDERR_FILENO), what, bytes);
    const std::int64_t begin_ns = control_.now_ns();
    run::Control::Work work;
    work.run = [shared] { shared->result.emplace(shared->write(shared->progress)); };
    work.on_interrupt = [shared] { shared->progress.cancel = true; };
    work.on_tick = [&] {
        if (!options_.quiet) bar.update(shared->progress.bytes_done, control_.now_ns() - begin_ns);
        if (stop()) shared->progress.cancel = true;
    };
    if (!control_.run(std::move(work))) {
        left_behind_ = true;
        return interrupted_error();
    }
    const Result<void>& result = *shared->result;
    if (result && !options_.quiet && !stop())
        bar.finish(shared->progress.bytes_done, control_.now_ns() - begin_ns);
    return result;
}

void leave_process(int code) {
    code = final_code(code);
    std::fflush(nullptr);
    _exit(code);
}

int end_command(const BackgroundWork& work, int code) {
    if (work.left_behind()) leave_process(code);
    return code;
}

}  // namespace streamsim::cli
