// Plays the sessions of a command while a person watches: the live view, --metrics, --web, the journal, and the
// other computers of one run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/options/options.h"
#include "cli/output/cli_context.h"
#include "cli/play/following_page.h"
#include "cli/play/live_play.h"
#include "run/process/control.h"
#include "run/session/session.h"
#include "seats/journal.h"
#include "seats/ranks.h"
#include "view/http/metrics_server.h"

namespace streamsim::cli {

class WatchedPlay {
public:
    explicit WatchedPlay(CommandContext& context) : context_(context), options_(context.options) {}
    /// A seat that joined leaves no journal behind, once the host has what it holds.
    ~WatchedPlay();
    WatchedPlay(const WatchedPlay&) = delete;
    WatchedPlay& operator=(const WatchedPlay&) = delete;

    /// Listens for --metrics and --web, where they were given, and answers that nothing is played yet. Errors:
    /// as parse_http_address, MetricsServer::listen and WebServer::listen.
    Result<void> open_servers();
    /// Tries whether there can be a journal where --journal wants it, before anything takes long, and leaves
    /// nothing there. Errors: environment.
    Result<void> try_journal() const;
    /// Opens the journal of --journal; each of several computers keeps one without being asked, too. It is the
    /// same file in each call.
    Result<void> open_journal(const run::PlayRequest& request);
    /// Keeps what the session plays in the journal, until stop_journal() or finish_journal(), which have to
    /// come before the session goes.
    void follow_in_journal(run::Session& session);
    /// The file stays as it is; nothing is kept any more. Waits briefly where the user wants to leave.
    void stop_journal();
    /// The result becomes that of the part that this process plays, and is what the file holds. If the journal
    /// could not be written, now or before, the result's notices say so. A disk that does not answer is waited
    /// for for some seconds.
    void finish_journal(RunResult& result);
    /// The page of --web is the finished report from now on.
    void finish_page(const RunResult& result);
    /// Leaves, where a person sits at a terminal, the page there until Ctrl-C.
    void keep_page();

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
    void keep_undelivered(const RunResult& part);
    Result<RunResult> play_own_part(run::Session& session,
                                    const run::PlayRequest& request,
                                    const std::function<void(const RunResult&)>& keep);
    void watch_ranks(run::Session& session);
    std::string journal_directory() const;
    static std::string allowed_directory();
    void become_part(RunResult& result, const std::string& journal) const;
    Result<void> open_metrics();
    Result<void> open_web();
    void feed_metrics(const run::Session::Watch& watch, const std::string& about);

    CommandContext& context_;
    const CliOptions& options_;
    std::string run_id_;                            // in the journal
    std::uint32_t seats_ = 0;                       // of a run of this process alone
    LivePlay* live_ = nullptr;                      // while a session plays
    std::unique_ptr<view::MetricsServer> metrics_;  // null: nobody asked for it
    std::optional<FollowingPage> page_;             // nullopt: nobody asked for it
    std::unique_ptr<seats::Journal> journal_;       // null: none is kept
    std::string journals_;                          // its directory
    std::string journal_to_remove_;                 // of a seat that joined; empty: none
};

}  // namespace streamsim::cli
