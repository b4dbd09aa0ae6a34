// The sequential test of --prove: "fewer than N drop events a day". It watches play and decides as soon as the
// events so far allow it, by two one-sided tests of power one:
//
// - The claim stands when the likelihood of rates below N, against N, reaches 1 / alpha. The rates below N have
//   weights: kLowWeight on kLowShare * N, the rest even between 0 and N.
// - The claim has failed when the likelihood of rates above N, against N, reaches 1 / beta. Their weights fall
//   off exponentially above N, with the mean kHighMean * N.
//
// Each likelihood ratio is a supermartingale where its claim is wrong, so that it ever reaches 1 / alpha with a
// probability of at most alpha, however long play goes on and whenever it is looked at (Ville 1939; mixtures:
// Robbins, Annals of Mathematical Statistics 41 (1970), 1397-1409).
//
// The unit is the event of the run: streams share their storage, so that an event counts once, however many
// streams it hits, and the exposure is the time of the run. Then the claim also holds for each single stream.
// An event that lasts counts again each minute, and its time is no exposure. For "stands" every event counts,
// which is the safe side where events come in groups; for "failed" events within a minute count once, since a
// group is one observation.
//
// Pure: times come from the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "streamsim/claims.h"

namespace streamsim::judge {

inline constexpr double kProveAlpha = 0.05;
inline constexpr double kProveBeta = 0.05;

/// "1 drop/day", "0.5 drops/hour", "2 drop events/week": events a day. Errors: bad input, what was expected.
Result<double> parse_prove(const std::string& text);

class ProveTest {
public:
    /// REQUIRES: above 0.
    explicit ProveTest(double wanted_per_day);

    /// Adds misses that are due up to `settled`, and the time up to there. After a decision nothing changes any
    /// more. Times count from the first play_start. `misses`: in any order, not before the last `settled`.
    void advance(std::vector<Duration> misses, Duration settled);

    ProveDecision decided() const { return result_.decided; }
    /// With its sentence.
    ProveResult result() const;

    /// The play that makes the claim stand if `events` events come.
    Duration needed(std::uint64_t events) const;
    /// Play that has not led to a decision by then is too close to N to be decided.
    Duration longest() const;

private:
    void pass_time(Duration to);
    void add_miss(Duration at);
    void decide(ProveDecision decision, Duration at);

    ProveResult result_;
    const double means_per_ns_;  // 1 / N is the mean time between events
    const Duration group_span_;  // from a group's first miss
    Duration settled_;
    Duration live_;  // time outside of events
    Duration needed_;
    Duration dead_until_, event_until_, group_until_;  // of the event and the group that came last
};

/// "3 days 7 h", "5 h 20 min"; rounded up.
std::string long_time(double hours);

/// "to prove fewer than 1 drop event a day at 95 % takes at least 3 days 7 h without a drop event".
std::string prove_beginning(const ProveTest& test);

}  // namespace streamsim::judge
