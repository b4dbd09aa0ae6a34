// PlayObservation: this computer while it plays: processors, links, the mount and its page cache, and whether
// the directories of the media stay.
#pragma once

#include <optional>

#include "host/host.h"
#include "host/system_watch.h"
#include "run/conclude/run_facts.h"
#include "run/plan/playback_plan.h"
#include "target/target_locations.h"

namespace streamsim::run {

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

}  // namespace streamsim::run
