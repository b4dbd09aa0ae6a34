// The common base of the commands that play or prepare: it writes missing media first, plays a session that a
// person watches and can interrupt, and writes the results to their files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/system/mutex.h"
#include "cli/media/background_work.h"
#include "cli/media/media_preparation.h"
#include "cli/output/output_documents.h"
#include "cli/play/ranks_run.h"
#include "cli/play/step_runner.h"
#include "cli/play/watched_play.h"

namespace streamsim::cli {

/// After a signal, for files on disks: a result of hours may be large, and a second signal ends it at once.
inline constexpr Duration kFilesTimeout = seconds(60);
/// After a second signal, for the result and the text that people read.
inline constexpr Duration kDueTimeout = seconds(2);

/// No frame was due, and no meter did anything: an earlier result says more.
bool measured_nothing(const RunResult& result);

/// Tests that the files of a play's result can be written, and writes none. Errors: every problem.
Result<void> check_result_files(const ResultFiles& files);

class MediaRun {
public:
    virtual ~MediaRun() = default;

protected:
    /// On the target of the options.
    explicit MediaRun(CommandContext& context);
    /// `store`: null where there are no files.
    MediaRun(CommandContext& context, std::unique_ptr<ByteStore> store);

    /// Opens the files that the result goes to, and listens for --metrics and --web.
    Result<void> open_outputs();
    /// Plays a session whose result is a part of another's. Errors: as a session's; interrupted. If the
    /// storage does not complete all operations, the session is left behind and nothing else can be played; the
    /// result is then what is known.
    Result<RunResult> play_aside(std::unique_ptr<run::Session>& session,
                                 const run::PlayRequest& request,
                                 const std::string& about);
    /// Plays streams alone, then meters alone, each as long as `request` says, for the result of the command.
    /// `streams` makes the session of the first. Then `request` says that its media were read. Does nothing
    /// where there are not both, or it is not wanted. Errors: as play_aside; of any rank.
    Result<void> measure_alone(
        run::PlayRequest& request,
        bool has_streams,
        const std::function<std::unique_ptr<run::Session>(const run::PlayRequest&)>& streams);
    /// A step begins: runs the command that the user wants before it, while no file of the target is open. In
    /// every rank; the first one runs it. `value`: the streams of the step, or its value of the sweep. Errors:
    /// as StepRunner; of the locks of the media.
    Result<void> run_before_step(const run::PlayRequest& request, const std::string& value);
    /// Reads the counters of the server, right before the step plays. In every rank.
    Result<void> count_before_step();
    /// Both.
    Result<void> prepare_step(const run::PlayRequest& request, const std::string& value);
    /// How often measure_alone() plays.
    std::size_t plays_alone(const run::PlayRequest& request, bool has_streams) const;
    /// Plays the session of the command, and writes its result. `about` is what is being played, for the live
    /// view; `request` is for the result of a run that was left.
    int play_session(run::Session& session, const run::PlayRequest& request, const std::string& about);
    /// Ends a command that played nothing.
    int end_before_play(const Error& error, const run::PlayRequest& request);
    /// A session that plays the meters of a request, without streams.
    std::unique_ptr<run::Session> meters_session(const run::PlayRequest& request);
    NoticeSink notices() {
        return [this](const std::string& text) { play_.say_notice(text); };
    }

    // One run over several computers. Alone, each of these is its own part.

    /// This process does what is done once for all.
    bool leads() const { return context_.ranks == nullptr || context_.ranks->first(); }
    bool makes_media() const { return context_.ranks == nullptr || context_.ranks->makes_media(); }
    /// The storage of a request; null: there is none.
    ByteStore* store_of(const run::PlayRequest& request) const {
        return request.only_leads ? nullptr : store_.get();
    }
    /// Success once every rank has come here with success. Errors: of any of them.
    Result<void> together(const Result<void>& own) { return cli::together(context_, own); }
    template <typename T>
    Result<void> together(const Result<T>& own) {
        return together(own ? Result<void>() : Result<void>(own.error()));
    }
    /// Before any rank but the first has looked at the target.
    Result<void> choose_formats_together();

    /// A thread is still in a call that does not return: the process has to end by leave().
    bool left_behind() const {
        return work_.left_behind() || media_.locks().left_behind() || steps_.left_behind();
    }
    [[noreturn]] void leave(int code);

    /// Writes the documents of a result, and has `print` show its text once: after them, but after a signal
    /// before those that may be large, which the next signal ends, as is --json; and before a reader may block.
    template <typename Of>
    Result<void> write_and_say(OutputDocuments<Of>& documents,
                               const Of& of,
                               const std::function<void()>& print);

    /// Fills in what only the command knows, before a result is written.
    virtual void complete(RunResult& /*result*/) {}
    /// Writes what is known of a play that was interrupted, to the files that can be written again: the rest is
    /// to come from other computers, and may not.
    virtual void write_for_now(RunResult known);
    /// In rank 0: what it gave to write_for_now() in the last play; nothing: the play did not come so far.
    std::optional<RunResult> known_for_now();

    CommandContext& context_;
    run::Control& control_;
    CliOptions& options_;
    std::shared_ptr<ByteStore> store_;
    BackgroundWork work_;
    MediaPreparation media_;
    WatchedPlay play_;
    StepRunner steps_;

private:
    std::optional<Result<RunResult>> watch_session(run::Session& session,
                                                   const run::PlayRequest& request,
                                                   const std::string& about,
                                                   bool streams_may_change);
    void keep_for_now(const RunResult& known);
    void stop_keeping();
    int interrupted_before_play(const run::PlayRequest& request);
    int write_results(RunResult result);

    OutputDocuments<RunResult> outputs_;
    std::optional<AloneResult> alone_;  // of measure_alone()
    Mutex for_now_mutex_;               // held while files are written for now
    std::optional<RunResult> for_now_ GUARDED_BY(for_now_mutex_);
    bool play_left_ GUARDED_BY(for_now_mutex_) = false;  // the play goes on, and its result is not awaited
};

template <typename Of>
Result<void> MediaRun::write_and_say(OutputDocuments<Of>& documents,
                                     const Of& of,
                                     const std::function<void()>& print) {
    control_.saving(kFilesTimeout, kDueTimeout);
    bool said = false;
    const auto limit_wait = [this] { control_.saving(run::kInterruptTimeout); };
    const auto limit_due = [this] { control_.saving(run::kInterruptTimeout, kDueTimeout); };
    const auto say = [&] {
        if (std::exchange(said, true)) return;
        limit_due();
        print();
        limit_due();
    };
    const auto hurry_after_signal = [&](const std::function<void()>& write_json) {
        if (said || !control_.interrupted()) return;
        say();
        write_json();
        control_.saving(kFilesTimeout);
    };
    auto written = documents.write(of, {hurry_after_signal, say, limit_due, limit_wait});
    say();
    limit_wait();
    return written;
}

}  // namespace streamsim::cli
