// Session: one run, from a request whose media were found to its result. Joins the three steps of a run: the
// plan, the playback, and the conclusion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/growing_list.h"
#include "base/result.h"
#include "run/conclude/not_played.h"
#include "run/plan/play_part.h"
#include "run/plan/play_request.h"
#include "run/plan/stream_plan.h"
#include "seats/start_barrier.h"
#include "streamsim/progress.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// execute() blocks, on a thread of the caller's choice; the other calls are for other threads meanwhile.
class Session {
public:
    /// `media`: from find_media() for the same request.
    Session(const PlayRequest& request, FoundMedia media, ProgramFacts program, const NoticeSink& notice);
    /// For the parts of a scenario (PlaybackPlan).
    Session(PlayRequest request,
            std::vector<PlayPart> parts,
            std::vector<ScenarioFault> faults,
            ProgramFacts program,
            const NoticeSink& notice);
    ~Session();

    /// The streams begin when those of other computers do. To be called before execute(), which `barrier`
    /// outlives.
    void wait_for(seats::StartBarrier& barrier);

    /// Plays to the end, or until interrupt(). Errors: no memory, storage that is not available, a preroll that
    /// took too long. An interrupted run has a result.
    Result<RunResult> execute();

    /// Any thread, any time, also before execute().
    void interrupt();

    /// The result if the run were interrupted now, without frames in flight: only slots that are settled are
    /// scheduled. Does not disturb play: the loops copy their statistics themselves, some streams at a time.
    /// Without rows of frames, statistics of a model's parts, and a diagnosis. nullopt: play has not begun, or
    /// a loop did not answer within 2 s. Any thread, while execute() runs.
    std::optional<RunResult> snapshot();

    /// Adds and removes streams by hand (StreamChanges). Any thread.
    Result<std::string> add_stream();
    Result<std::string> remove_stream(std::size_t index);

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
    bool storage_is_over() const;
    /// The storage kept something: the process has to end by _exit once the result is written.
    bool stuck() const;
    /// execute() failed because the storage did not fill all read-aheads in time: it answers, but so many
    /// streams are too many for it.
    bool preroll_took_too_long() const;

private:
    struct Steps;

    const ProgramFacts program_;
    const std::unique_ptr<Steps> steps_;
};

}  // namespace streamsim::run
