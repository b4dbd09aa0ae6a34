// Session: one run, from a request whose media were found to its result. Joins the three steps of a run: the
// plan, the playback, and the conclusion.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/conclude/conclusion.h"
#include "run/plan/playback_plan.h"
#include "run/playback/playback.h"
#include "run/playback/stream_changes.h"

namespace streamsim::run {

/// The build of this program, its command line, and the project that its user named.
struct ProgramFacts {
    std::string version;
    std::string revision;
    std::vector<std::string> command;
    Project project = {};
};

/// The result of a run that was interrupted before it played anything.
RunResult not_played(const PlayRequest& request, const ProgramFacts& program);

/// execute() blocks, on a thread of the caller's choice; the other calls are for other threads meanwhile.
class Session {
public:
    /// `media`: from find_media() for the same request.
    Session(const PlayRequest& request, FoundMedia media, ProgramFacts program, const NoticeSink& notice)
        : Session(request, one_part(request, std::move(media)), {}, std::move(program), notice) {}
    /// For the parts of a scenario (PlaybackPlan).
    Session(PlayRequest request,
            std::vector<PlayPart> parts,
            std::vector<ScenarioFault> faults,
            ProgramFacts program,
            const NoticeSink& notice)
        : program_(std::move(program)),
          log_(notice),
          plan_(std::move(request), std::move(parts), std::move(faults), log_) {}

    /// The streams begin when those of other computers do. To be called before execute(), which `barrier`
    /// outlives.
    void wait_for(seats::StartBarrier& barrier) { playback_.wait_for(barrier); }

    /// `then` runs on the thread of execute() when play has ended by itself, on all computers, before anything
    /// else is read here; an interruption calls `cancel`, on another thread. To be called before execute().
    void after_play(std::function<void()> then, std::function<void()> cancel) {
        after_play_ = std::move(then);
        cancel_after_play_ = std::move(cancel);
    }

    /// Plays to the end, or until interrupt(). Errors: no memory, storage that is not available, a preroll that
    /// took too long. An interrupted run has a result.
    Result<RunResult> execute();
    /// After an error of execute(): the result up to it, as of a run that was interrupted, where other streams
    /// had begun before the preroll that took too long.
    const std::optional<RunResult>& until_error() const { return until_error_; }

    /// Any thread, any time, also before execute().
    void interrupt();

    /// The result if the run were interrupted now, without frames in flight: only slots that are settled are
    /// scheduled. Does not disturb play: the loops copy their statistics themselves, some streams at a time.
    /// Without rows of frames, statistics of a model's parts, and a diagnosis. nullopt: play has not begun, or
    /// a loop did not answer within `timeout`. Any thread, while execute() runs.
    std::optional<RunResult> snapshot(Duration timeout = seconds(2)) { return conclusion_.snapshot(timeout); }

    /// Adds and removes streams by hand (StreamChanges). Any thread.
    Result<std::string> add_stream() { return changes_.add(); }
    Result<std::string> remove_stream(std::size_t index) { return changes_.remove(index); }

    /// The streams as they will play, and those that were added since. Null before execute() has planned them.
    /// Read the size of `streams` once: each below it has its progress.
    struct Watch {
        const GrowingList<StreamPlan>* streams = nullptr;
        const GrowingList<StreamProgress>* progress = nullptr;
        std::int64_t started_ns = 0;  // CLOCK_MONOTONIC of the first play_start; 0: still in preroll
        bool virtual_time = false;
        bool diagnosing = false;                               // play has ended, and failed
        const std::vector<load::MeterPlan>* meters = nullptr;  // with their progress
        Duration play_time;                                    // of the meters
        bool faults_injected = false;
    };
    Watch watch() const;

    /// Play has ended, and the rest is arithmetic on what was measured. Any thread.
    bool storage_is_over() const { return conclusion_.storage_is_over(); }
    /// The storage kept something: the process has to end by _exit once the result is written.
    bool stuck() const { return playback_.is_stuck() || conclusion_.is_stuck(); }
    /// execute() failed because the storage did not fill all read-aheads in time: it answers, but so many
    /// streams are too many for it.
    bool preroll_took_too_long() const { return playback_.preroll_took_too_long(); }

private:
    const ProgramFacts program_;
    NoticeLog log_;
    PlaybackPlan plan_;
    Playback playback_{plan_};
    StreamChanges changes_{plan_, playback_};
    Conclusion conclusion_{plan_, playback_, changes_};
    std::optional<RunResult> until_error_;
    std::function<void()> after_play_, cancel_after_play_;
    std::atomic<bool> interrupted_{false};
};

}  // namespace streamsim::run
