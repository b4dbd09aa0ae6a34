// Indexing that a person can watch and interrupt.
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "run/process/control.h"
#include "streamsim/media.h"
#include "view/live_view.h"
#include "view/progress_bar.h"

namespace streamsim::cli {

/// Nothing is said of an index that takes less.
inline constexpr Duration kSilentFor = seconds(2);

/// Runs `index` on a thread of its own; with a bar or a count of clips where it takes long.
/// Errors: its own; interrupted, soon after the signal, also where `index` is in a call
/// that does not return. `left_behind` comes true when it still runs although nobody waits for it: the process
/// has to end by _exit, and whatever `index` refers to has to stay.
template <typename T>
Result<T> index_with_bar(run::Control& control,
                         bool quiet,
                         bool& left_behind,
                         std::function<Result<T>(IndexProgress&)> index,
                         const char* what = "reading clips") {
    struct Shared {  // lives as long as the thread that reads
        IndexProgress progress;
        std::optional<Result<T>> result;
    };
    const auto shared = std::make_shared<Shared>();
    std::optional<view::ProgressBar> bar;
    const std::int64_t begin_ns = control.now_ns();
    run::Control::Work work;
    work.run = [shared, index] { shared->result.emplace(index(shared->progress)); };
    work.on_interrupt = [shared] { shared->progress.cancel = true; };
    if (!quiet) {
        work.on_tick = [&, terminal = view::LiveView::possible(STDERR_FILENO)] {
            const IndexProgress& progress = shared->progress;
            const std::int64_t elapsed_ns = control.now_ns() - begin_ns;
            const std::uint64_t total = progress.bytes_total;
            if (total == 0 && elapsed_ns < kSilentFor.ns) return;
            if (!bar || bar->total_bytes() != total) bar.emplace(STDERR_FILENO, terminal, what, total);
            if (total == 0) {
                bar->update_count(progress.clips_done, progress.clips_total, elapsed_ns);
            } else if (terminal) {
                bar->update(progress.bytes_done, elapsed_ns);
            }
        };
    }
    const bool ended = control.run(std::move(work));
    left_behind = left_behind || !ended;
    if (!ended || control.interrupted()) return interrupted_error();
    return std::move(*shared->result);
}

}  // namespace streamsim::cli
