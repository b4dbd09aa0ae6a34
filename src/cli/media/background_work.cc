#include "cli/media/background_work.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

#include "cli/options/options.h"
#include "cli/output/output_file.h"
#include "view/live_view.h"
#include "view/progress_bar.h"

namespace streamsim::cli {

bool BackgroundWork::wait_for(run::Control::Work work) {
    const bool ended = context_.control.run(std::move(work));
    left_behind_ = left_behind_ || !ended;
    return ended && !context_.control.interrupted();
}

void BackgroundWork::say_when_it_takes_long() {
    const std::int64_t now_ns = context_.control.now_ns();
    if (begun_ns_ == 0) begun_ns_ = now_ns;
    if (looks_at_.empty() || context_.options.quiet || now_ns - begun_ns_ < kFirstMessageAfter.ns) return;
    if (!std::exchange(said_, true))
        context_.log.info("looking for media and for runs that use them in " + looks_at_);
}

std::function<void()> BackgroundWork::index_tick(const IndexProgress& progress, const char* what) {
    if (context_.options.quiet) return {};
    const auto bar = std::make_shared<std::optional<view::ProgressBar>>();
    return [this, &progress, what, bar, begin_ns = context_.control.now_ns(),
            terminal = view::LiveView::possible(STDERR_FILENO)] {
        const std::int64_t elapsed_ns = context_.control.now_ns() - begin_ns;
        const std::uint64_t total = progress.bytes_total;
        if (total == 0 && elapsed_ns < kFirstMessageAfter.ns) return;
        if (!*bar || (**bar).total_bytes() != total) bar->emplace(STDERR_FILENO, terminal, what, total);
        const std::uint64_t files = progress.files_total;
        if (total == 0 && files > 0) {
            (**bar).update_count(progress.files_done, files, elapsed_ns);
        } else if (total == 0) {
            (**bar).update_count(progress.clips_done, progress.clips_total, elapsed_ns);
        } else if (terminal) {
            (**bar).update(progress.bytes_done, elapsed_ns);
        }
    };
}

void leave_process(int code) {
    code = final_code(code);
    remove_temporary_outputs();
    std::fflush(nullptr);
    _exit(code);
}

int end_command(const BackgroundWork& work, int code) {
    if (work.left_behind()) leave_process(code);
    return code;
}

}  // namespace streamsim::cli
