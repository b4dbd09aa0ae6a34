// Conclusion: from play that has ended, or goes on, to its result. Looks for the cause of missed frames, and
// puts the statistics of all loops together.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "run/conclude/not_played.h"
#include "run/conclude/play_observation.h"
#include "run/conclude/result_builder.h"
#include "run/diagnosis/diagnosis.h"
#include "run/plan/playback_plan.h"
#include "run/playback/playback.h"
#include "run/playback/stream_changes.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

class Conclusion {
public:
    /// The references outlive it.
    Conclusion(PlaybackPlan& plan, Playback& playback, StreamChanges& changes)
        : plan_(plan), playback_(playback), changes_(changes) {}

    /// Before play: keeps what the result says whatever happens. REQUIRES: the plan is made.
    void begin(const ProgramFacts& program);
    /// The result of a run in which no stream was assigned to this computer.
    RunResult nothing_to_play() const;
    /// `observation` began right before play. Blocks for some seconds where frames were missed.
    RunResult conclude(PlayObservation& observation);
    /// The result if the run were interrupted now; nullopt: play has not begun, or a loop does not answer.
    /// `observation` has begun. Any thread.
    std::optional<RunResult> snapshot();
    /// The observation of play, for snapshots.
    void observe(const PlayObservation& observation);

    /// Ends a diagnosis. Any thread, any time.
    void interrupt() { control_.interrupt(); }
    /// Frames were missed, and their cause is looked for. Any thread.
    bool is_diagnosing() const { return is_diagnosing_.load(std::memory_order_relaxed); }
    /// The storage is not used any more. Any thread.
    bool storage_is_over() const { return storage_is_over_.load(std::memory_order_relaxed); }
    /// The storage kept operations of the diagnosis.
    bool is_stuck() const { return is_stuck_; }

private:
    void fill_common(RunFacts& facts) const;
    void diagnose_play(bool real, RunFacts& facts);
    void reread(RunFacts& facts);
    void measure_model_rate(RunFacts& facts);

    PlaybackPlan& plan_;
    Playback& playback_;
    StreamChanges& changes_;
    DiagnosisControl control_;
    std::mutex snapshot_mutex_;
    RunResult begun_;  // the part of the result that is known before play
    host::ProcessUsage usage_before_;
    std::optional<MountFacts> mount_;
    std::atomic<bool> is_diagnosing_{false};
    std::atomic<bool> storage_is_over_{false};
    bool is_stuck_ = false;
};

}  // namespace streamsim::run
