#include "run/conclude/play_observation.h"

#include <memory>
#include <string>

#include "host/mount.h"
#include "run/conclude/cached_share.h"

namespace streamsim::run {
namespace {

/// After play that failed the computer is observed for this long without load: the usual state.
constexpr Duration kIdleObserved = milliseconds(700);

}  // namespace

PlayObservation::PlayObservation(const PlaybackPlan& plan) : plan_(plan) {
    const target::Target& target = plan.request().target;
    if (target.kind == target::Target::Kind::local) {
        const std::string file = plan.first_file();
        mount_ = host::mount_of(file);
        if (!plan.request().direct) cached_before_ = cached_share(plan.clips());
        counts_storage_reads_ = host::block_device_behind(file);
        watch_.emplace(file);
        locations_.emplace(std::make_shared<target::TargetLocations>(target::directories_of(plan.clips())),
                           [&plan] { return target::slots_failed(plan.progress()); });
    } else if (target.kind == target::Target::Kind::remote) {
        watch_.emplace(host::ServersWatched{target.remote->addresses});
    }
    before_ = host::read_process_usage();
}

void PlayObservation::play_ended(bool look_at_cache) {
    if (cached_before_ && look_at_cache) cached_after_ = cached_share(plan_.clips());
}

void PlayObservation::stop(bool missed, bool cut_short, RunFacts& facts) {
    facts.cached_before = cached_before_;
    facts.cached_after = cached_after_;
    facts.counts_storage_reads = counts_storage_reads_;
    if (locations_) facts.vanished = locations_->stop(!cut_short);
    if (watch_) facts.system = watch_->stop(missed && !cut_short ? kIdleObserved : Duration{});
}

}  // namespace streamsim::run
