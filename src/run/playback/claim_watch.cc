#include "run/playback/claim_watch.h"

#include <algorithm>

namespace streamsim::run {
namespace {

/// A hundredth of the least play that proves the claim, so that play ends soon after the decision.
Duration interval_of(const judge::ProveTest& test) {
    return std::clamp(Duration{test.needed(0).ns / 100}, milliseconds(100), seconds(10));
}

}  // namespace

ClaimWatch::ClaimWatch(double wanted_per_day, std::size_t loops)
    : interval_(interval_of(judge::ProveTest(wanted_per_day))),
      test_(wanted_per_day),
      settled_(loops),
      ended_(loops) {}

void ClaimWatch::tell(std::size_t loop, Instant origin, const News& news) {
    bool decided = false;
    {
        const MutexLock lock(mutex_);
        for (const Instant miss : news.misses) waiting_.push_back(std::max(miss - origin, Duration{}));
        if (news.settled != Instant::never()) settled_[loop] = std::max(settled_[loop], news.settled - origin);
        ended_[loop] = news.ended;
        const Duration all = settled_by_all();
        std::vector<Duration> misses;
        std::erase_if(waiting_, [&](Duration miss) {
            if (miss > all) return false;
            misses.push_back(miss);
            return true;
        });
        test_.advance(std::move(misses), all);
        decided = test_.decided() != ProveDecision::undecided && !is_decided();
        if (decided) is_decided_.store(true, std::memory_order_release);
    }
    if (decided && on_decided) on_decided();
}

/// The loops that go on decide; once all have ended, the one that played longest.
Duration ClaimWatch::settled_by_all() const {
    Duration least = Instant::never() - Instant{};
    for (std::size_t i = 0; i < settled_.size(); ++i) {
        if (!ended_[i]) least = std::min(least, settled_[i]);
    }
    const bool all_ended = std::ranges::find(ended_, false) == ended_.end();
    return all_ended ? *std::ranges::max_element(settled_) : least;
}

ProveResult ClaimWatch::result() const {
    const MutexLock lock(mutex_);
    return test_.result();
}

}  // namespace streamsim::run
