// Claims with confidence, from the drop events of a run and its hours.
//
// Intervals: the rate per stream is a sum of Poisson counts with weights: an event that hits k streams counts k
// times. Interval of such a sum by gamma quantiles: Fay and Feuer, Statistics in Medicine 16 (1997), 791-801.
// With equal weights it is the exact interval of Garwood, Biometrika 28 (1936), 437-442. The weight of the
// event that was not seen is that of the heaviest event seen ("streams drop independently"), or that of all
// streams ("streams drop together").
//
// Events in groups: Bartlett's test on the times between events (Moran, Biometrika 38 (1951), 98-103; Cox and
// Lewis, The Statistical Analysis of Series of Events, 1966) rejects events that come at random and alone. Then
// events are joined into groups until the test accepts the groups, and the interval is that of the rate of
// groups. The time inside of events and groups is no exposure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "streamsim/claims.h"
#include "streamsim/run_result.h"

namespace streamsim::judge {

inline constexpr double kClaimConfidence = 0.95;

/// A drop event that counts. Times are of the run's play: from the first play_start, without the pauses in
/// which no stream plays.
struct ClaimEvent {
    std::int64_t from_ns = 0, to_ns = 0;
    std::uint64_t streams = 1;  // that it hit
};

/// The play that claims are about.
struct ClaimPlay {
    std::vector<ClaimEvent> events;  // in any order
    std::uint64_t streams = 1;
    double stream_hours = 0;
    double run_hours = 0;
    bool of_model = false;
};

/// Counts, intervals and sentence. REQUIRES: hours are above 0.
Claims claims_of(const ClaimPlay& play);

/// The claims of a result with its streams and events; nullopt where nothing is claimed: no stream played
/// against deadlines. The rates are 0, with a sentence that says why, if the drop table is not complete. Events
/// of the first second that were dropped alone do not count, as in the verdict.
std::optional<Claims> claims_of(const RunResult& result);

/// The probability that events which come at random and alone are waited for so unevenly; nullopt: fewer than
/// two events. `waits_ns`: from the beginning of play to the first event, and from the end of each to the next
/// one.
std::optional<double> dispersion_p(const std::vector<std::int64_t>& waits_ns);

}  // namespace streamsim::judge
