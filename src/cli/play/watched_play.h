// Plays the sessions of a command while a person watches: the live view, --metrics, the journal, and the other
// computers of one run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/options/options.h"
#include "cli/output/cli_context.h"
#include "cli/play/live_play.h"
#include "cli/play/run_journal.h"
#include "run/process/control.h"
#include "run/session/session.h"
#include "seats/ranks.h"
#include "view/metrics_server.h"

namespace streamsim::cli {

class WatchedPlay {
public:
    WatchedPlay(CliContext& context, run::Control& control, const CliOptions& options)
        : context_(context), control_(control), options_(options) {}

    /// Listens for --metrics, where it was given.
    Result<void> open_metrics();
    /// Opens the journal of --journal; each of several computers keeps one without being asked, too.
    Result<void> open_journal(const run::PlayRequest& request);
    RunJournal& journal() { return journal_; }

    /// Plays. nullopt: the session was left behind; it has to stay, and the process has to end by
    /// leave_process(). `about` is what is being played, for the live view. `streams_may_change`: by hand, on a
    /// terminal. `keep`: over several computers, gets what is known while the results of others are awaited.
    std::optional<Result<RunResult>> play(run::Session& session,
                                          const run::PlayRequest& request,
                                          const std::string& about,
                                          bool streams_may_change,
                                          const std::function<void(const RunResult&)>& keep);

    /// For a session's notices; any thread.
    void say_notice(const std::string& notice);
    /// Also with --quiet: something that the user has asked for is not done.
    void say_always(const std::string& notice);

private:
    Result<RunResult> play_own_part(run::Session& session,
                                    const run::PlayRequest& request,
                                    const std::function<void(const RunResult&)>& keep);
    void watch_ranks(run::Session& session);

    CliContext& context_;
    run::Control& control_;
    const CliOptions& options_;
    RunJournal journal_;
    LivePlay* live_ = nullptr;                      // while a session plays
    std::unique_ptr<view::MetricsServer> metrics_;  // null: nobody asked for it
};

}  // namespace streamsim::cli
