// Playback: plays a plan. Runs its loops on threads, begins the streams together, and ends them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/system/mutex.h"
#include "run/plan/playback_plan.h"
#include "run/playback/claim_watch.h"
#include "run/playback/playback_loop.h"
#include "seats/start_barrier.h"

namespace streamsim::run {

class Playback {
public:
    /// REQUIRES: the plan is made before prepare(), and outlives the playback.
    explicit Playback(PlaybackPlan& plan) : plan_(plan) {}

    /// The streams begin when those of other computers do. To be called before run(), which `barrier` outlives.
    void wait_for(seats::StartBarrier& barrier) { barrier_ = &barrier; }

    /// Makes the loops, while the memory of their frames gets its pages, so that playing costs neither. Once.
    void prepare();
    /// Plays to the end, or until interrupt(). REQUIRES: it is prepared. Errors: environment: no threads, a
    /// storage that is not available, a preroll that took too long.
    Result<void> run();
    /// Takes part in the start of a run in which this computer plays nothing.
    Result<void> wait_for_others();
    /// Tells the other computers that play has ended here, and waits for them.
    void tell_end() {
        if (barrier_ != nullptr && !was_cut_short_) barrier_->ended();
    }
    /// Any thread, any time, also before run().
    void interrupt();

    /// CLOCK_MONOTONIC of the first play_start; 0: still in preroll. Any thread.
    std::int64_t started_ns() const { return started_ns_.load(std::memory_order_acquire); }
    /// The loops that have been made so far. Any thread.
    std::vector<PlaybackLoop*> loops() const;
    /// Copies the statistics of all loops while they play; empty: a loop did not answer within `timeout`. The
    /// copies stay valid until the next call. One thread at a time.
    std::vector<std::shared_ptr<LoopSnapshot>> copy_loops(Duration timeout);

    /// The test of --prove so far; nullopt: there is none, or play has not begun. Any thread.
    std::optional<ProveResult> claim() const {
        const MutexLock lock(mutex_);
        return claim_ != nullptr ? std::optional(claim_->result()) : std::nullopt;
    }

    // After run().
    /// It was interrupted while there was something left to play, or ended because a preroll took too long.
    bool was_cut_short() const { return was_cut_short_; }
    /// The storage kept something: the process has to end by _exit once the result is written.
    bool is_stuck() const { return is_stuck_; }
    /// run() failed because the storage did not fill all read-aheads in time.
    bool preroll_took_too_long() const { return preroll_took_too_long_; }

private:
    void make_loops(std::size_t count);
    Result<void> run_loops();
    void loop_ready(PlaybackLoop& loop, Duration offset);
    void begin_everywhere(Duration offset, Instant play_start);
    void stop_loops();
    void end_play();

    PlaybackPlan& plan_;
    seats::StartBarrier* barrier_ = nullptr;  // null: there is no other computer to wait for
    mutable Mutex mutex_;
    // Guarded by mutex_ in part: prepare() counts not_ready_ before there are loops, and loops_ stay once they
    // are made.
    std::vector<std::unique_ptr<PlaybackLoop>> loops_;
    std::unique_ptr<ClaimWatch> claim_;              // null: nothing is to be proved
    std::map<std::int64_t, std::size_t> not_ready_;  // loops, by start offset
    bool interrupted_ GUARDED_BY(mutex_) = false;
    std::vector<std::shared_ptr<LoopSnapshot>> copies_;  // as loops_
    std::atomic<std::int64_t> started_ns_{0};
    bool was_cut_short_ = false;
    bool is_stuck_ = false;
    bool preroll_took_too_long_ = false;
};

}  // namespace streamsim::run
