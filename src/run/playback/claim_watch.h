// ClaimWatch: decides the claim of --prove while the loops of a run play. Each loop tells what it missed and up
// to which instant all its slots are settled; the watch puts the loops' misses together and gives them to the
// test in the order of their deadlines, so that the decision does not depend on how often the loops tell.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/system/mutex.h"
#include "base/time.h"
#include "judge/claims/prove.h"

namespace streamsim::run {

class ClaimWatch {
public:
    ClaimWatch(double wanted_per_day, std::size_t loops);

    /// The news of one loop since the last ones. Instants of the loops' clock.
    struct News {
        std::vector<Instant> misses;  // deadlines, and begins of stalls
        Instant settled = Instant::never();
        Instant last;        // deadline that was settled
        bool ended = false;  // the loop plays nothing any more, and others may go on
    };
    /// From the loops' threads. `origin`: the first play_start.
    void tell(std::size_t loop, Instant origin, const News& news);

    /// The loops tell so often.
    Duration interval() const { return interval_; }
    bool is_decided() const { return is_decided_.load(std::memory_order_acquire); }
    /// Called once, on the thread of the loop whose news decided.
    std::function<void()> on_decided;

    ProveResult result() const;

private:
    const Duration interval_;
    mutable Mutex mutex_;
    judge::ProveTest test_ GUARDED_BY(mutex_);
    Duration settled_by_all() const REQUIRES(mutex_);

    std::vector<Duration> settled_ GUARDED_BY(mutex_);  // by loop
    std::vector<bool> ended_ GUARDED_BY(mutex_);        // the same
    std::vector<Duration> waiting_ GUARDED_BY(mutex_);  // misses that not all loops have settled
    std::atomic<bool> is_decided_{false};
};

}  // namespace streamsim::run
