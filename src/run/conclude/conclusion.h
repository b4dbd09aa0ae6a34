// Conclusion: from play that has ended, or goes on, to its result. Diagnoses the cause of missed frames, and
// puts the statistics of all loops together.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/system/mutex.h"
#include "host/host.h"
#include "host/system_watch.h"
#include "run/conclude/result_builder.h"
#include "run/diagnosis/diagnosis.h"
#include "run/plan/playback_plan.h"
#include "run/playback/playback.h"
#include "run/playback/stream_changes.h"
#include "streamsim/run_result.h"
#include "target/target_locations.h"

namespace streamsim::run {

/// This computer while it plays: processors, links, the mount and its page cache, and whether the directories
/// of the media stay.
class PlayObservation {
public:
    /// Begins. REQUIRES: the plan is made, is not empty, and outlives it.
    explicit PlayObservation(const PlaybackPlan& plan);

    /// Play has ended: what it cost. `look_at_cache`: the storage is there to be asked about its files.
    void play_ended(bool look_at_cache);
    /// Ends, and fills in what was seen. `missed`: frames were missed, so that the computer is observed for a
    /// moment more without load.
    void stop(bool missed, bool cut_short, RunFacts& facts);

    const host::ProcessUsage& usage_before() const { return before_; }
    const std::optional<MountFacts>& mount() const { return mount_; }
    /// The target is real storage: its system is observed.
    bool is_real() const { return watch_.has_value(); }

private:
    const PlaybackPlan& plan_;
    std::optional<MountFacts> mount_;
    std::optional<double> cached_before_;
    std::optional<double> cached_after_;
    bool counts_storage_reads_ = false;
    std::optional<host::SystemWatch> watch_;
    std::optional<target::LocationWatch> locations_;
    host::ProcessUsage before_;
};

class Conclusion {
public:
    /// The references outlive it.
    Conclusion(PlaybackPlan& plan, Playback& playback, StreamChanges& changes)
        : plan_(plan), playback_(playback), changes_(changes) {}

    /// Before play: keeps the result of a run that plays nothing. REQUIRES: the plan is made.
    void begin(RunResult begun);
    /// The result of a run in which no stream was assigned to this computer.
    RunResult nothing_to_play() const;
    /// `observation` began right before play. `after_play` is called when the costs of play are known, before
    /// anything else is read. Blocks for some seconds where frames were missed.
    RunResult conclude(PlayObservation& observation, const std::function<void()>& after_play);
    /// The same of play that ended with an error, which is the reason of the verdict.
    RunResult conclude_failed(PlayObservation& observation, const Error& error);
    /// The result if the run were interrupted now; nullopt: play has not begun, or a loop does not answer
    /// within `timeout`. `observation` has begun. Any thread.
    std::optional<RunResult> snapshot(Duration timeout);
    /// The observation of play, for snapshots.
    void observe(const PlayObservation& observation) {
        usage_before_ = observation.usage_before();
        mount_ = observation.mount();
    }

    /// Ends a diagnosis at once, the removal of recordings after kRemovalTimeout. Any thread, any time.
    void interrupt();
    /// Frames were missed, and their cause is looked for. Any thread.
    bool is_diagnosing() const { return is_diagnosing_.load(std::memory_order_relaxed); }
    /// The storage is not used any more. Any thread.
    bool storage_is_over() const { return storage_is_over_.load(std::memory_order_relaxed); }
    /// The storage kept operations of the diagnosis.
    bool is_stuck() const { return is_stuck_; }

private:
    /// After interrupt(): the recordings that are not removed yet stay.
    bool removal_timed_out() const;
    void fill_common(RunFacts& facts) const;
    void diagnose_play(bool real, RunFacts& facts);
    void reread(RunFacts& facts);
    void measure_model_rate(RunFacts& facts);

    PlaybackPlan& plan_;
    Playback& playback_;
    StreamChanges& changes_;
    DiagnosisControl control_;
    Mutex snapshot_mutex_;      // one snapshot at a time
    RunResult begun_;           // the part of the result that is known before play
    std::int64_t began_s_ = 0;  // of the clock on the wall, since 1970
    host::ProcessUsage usage_before_;
    std::optional<MountFacts> mount_;
    std::atomic<std::int64_t> interrupted_ns_{0};  // CLOCK_MONOTONIC of the first interrupt(); 0: none
    std::atomic<bool> is_diagnosing_{false};
    std::atomic<bool> storage_is_over_{false};
    bool is_stuck_ = false;
};

}  // namespace streamsim::run
