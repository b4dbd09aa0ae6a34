// What commands that play or prepare have in common: media that is written first, a session that is watched and
// can be interrupted, results that go to their files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/media/media_locks.h"
#include "cli/play/live_play.h"
#include "cli/play/result_outputs.h"
#include "cli/play/run_journal.h"
#include "media/write/media_set.h"
#include "run/process/control.h"
#include "run/session/space_need.h"
#include "seats/ranks.h"
#include "view/metrics_server.h"

namespace streamsim::cli {

/// After a signal, for files on disks: a result of hours may be large, and a second signal ends it at once.
inline constexpr Duration kFilesTimeout = seconds(60);

class MediaRun {
public:
    virtual ~MediaRun() = default;

protected:
    /// `store`: null where there are no files.
    MediaRun(CliContext& context, run::Control& control, CliOptions& options, std::unique_ptr<ByteStore> store)
        : context_(context),
          control_(control),
          options_(options),
          store_(std::move(store)),
          locks_(context, control, options) {}

    using PlanMedia = std::function<Result<std::vector<media::PreparePlan>>()>;

    /// The files that the result goes to, and --metrics.
    Result<void> open_outputs();
    /// Runs something that may block for long (an index of a slow server). An interruption leaves it behind.
    template <typename T>
    Result<T> in_background(std::function<Result<T>()> function);
    /// A target without media of its own gets the default format where none was asked for; a cut list brings
    /// its own.
    Result<void> choose_formats();
    /// Success where little is needed, --yes was given, or a person on the terminal says yes. Errors:
    /// environment, nobody has allowed it; interrupted.
    Result<void> consent(const run::SpaceNeed& need);
    // Locks (media_locking.cc). All errors: as MediaLocks::hold_set.

    /// Holds the media set that is played, where it is one of ours, until the command ends. `writes`: recorders
    /// or meters write below it, and it is made where it is not there.
    Result<void> hold_media(const run::PlayRequest& request, bool writes);
    /// Holds the set as hold_media, and writes what is missing before play: the clips that `media` plans, while
    /// nobody else uses the set, and the files of the meters of `request`. Asks first where that, together with
    /// the `record_bytes` that recorders will write, is much.
    Result<void> write_missing(const run::PlayRequest& request,
                               const PlanMedia& media,
                               std::uint64_t record_bytes);
    /// What the meters of a request work on, as far as it is not there; what an earlier run has created goes.
    Result<void> write_load_sets(const run::PlayRequest& request);
    Result<void> write_load(const media::LoadSetPlan& plan);
    /// What the meters of a request have created goes; says so where it cannot.
    void remove_created(const run::PlayRequest& request);
    /// Plays, watched and listening. nullopt: it was left behind; the session has to stay, and the process has
    /// to end by leave(). `streams_may_change`: by hand, on a terminal.
    std::optional<Result<RunResult>> watch_session(run::Session& session,
                                                   const run::PlayRequest& request,
                                                   const std::string& about,
                                                   bool streams_may_change = false);
    /// A thread is still in a call that does not return: the process has to end by leave().
    bool left_behind() const { return left_behind_ || locks_.left_behind(); }
    // One run over several computers (ranks_run.cc). Alone, each of them is what its own part is.

    /// What is done once for all is done here.
    bool leads() const { return context_.ranks == nullptr || context_.ranks->first(); }
    /// Success once every rank has come here with success. Errors: of any of them.
    Result<void> together(const Result<void>& own);
    /// Before any rank has looked at the target but the first.
    Result<void> choose_formats_together();
    /// Streams alone, then meters alone, each as long as `request` says. `streams` makes the session of the
    /// first. Nothing: there are not both, or it is not wanted. Errors: as a session's; interrupted.
    Result<std::optional<AloneResult>> measure_alone(
        const run::PlayRequest& request,
        bool has_streams,
        const std::function<std::unique_ptr<run::Session>(const run::PlayRequest&)>& streams);
    /// `about` is what is being played, for the live view; `request` for the result of a run that was left.
    int play_session(run::Session& session, const run::PlayRequest& request, const std::string& about);
    int interrupted_before_play(const run::PlayRequest& request);
    int write_results(RunResult result);
    /// For a session's notices; any thread.
    void say_notice(const std::string& notice);
    /// Also with --quiet: what the user has asked for is not done.
    void say_always(const std::string& notice);
    [[noreturn]] void leave(int code);

    /// Fills in what only the command knows, before a result is written.
    virtual void complete(RunResult& /*result*/) {}

    CliContext& context_;
    run::Control& control_;
    CliOptions& options_;
    std::shared_ptr<ByteStore> store_;
    MediaLocks locks_;
    bool left_behind_ = false;        // a thread is still in a call that does not return
    std::int64_t look_begun_ns_ = 0;  // 0: nothing on the target has been looked at
    bool said_look_ = false;
    std::optional<AloneResult> alone_;  // of measure_alone(), for the result

private:
    void say_plan(const media::PreparePlan& plan);
    /// While what is on the target is looked at: once, after some seconds, that it is.
    void say_when_it_takes_long();
    /// What play needs and has not.
    struct Missing {
        std::vector<media::PreparePlan> media;
        run::SpaceNeed need;
    };
    Result<Missing> find_missing(const run::PlayRequest& request,
                                 const PlanMedia& media,
                                 std::uint64_t record_bytes);
    Result<void> write_media(const media::PreparePlan& plan);
    Result<void> write_media(const std::vector<media::PreparePlan>& plans);
    Result<void> write_with_bar(const char* what,
                                std::uint64_t bytes,
                                std::function<Result<void>(media::PrepareProgress&)> write);
    Result<void> open_journal(const run::PlayRequest& request);
    Result<RunResult> play_with_others(run::Session& session, const run::PlayRequest& request);
    void watch_ranks(run::Session& session);
    void write_files(RunResult result);

    Result<RunResult> play_aside(std::unique_ptr<run::Session> session,
                                 const run::PlayRequest& request,
                                 const std::string& about);

    ResultOutputs outputs_;
    RunJournal journal_;                            // of --journal
    LivePlay* live_ = nullptr;                      // while a session plays
    std::unique_ptr<view::MetricsServer> metrics_;  // null: nobody asked for it
};

template <typename T>
Result<T> MediaRun::in_background(std::function<Result<T>()> function) {
    auto result = std::make_shared<std::optional<Result<T>>>();
    const bool ended = control_.run(
        {[function, result] { result->emplace(function()); }, {}, [this] { say_when_it_takes_long(); }});
    left_behind_ = left_behind_ || !ended;
    if (!ended || control_.interrupted()) return interrupted_error();
    return std::move(**result);
}

}  // namespace streamsim::cli
