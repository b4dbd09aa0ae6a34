// The search for the largest number of streams that plays: 1, 2, 4, ... until one fails, then halves of what is
// left between; the number that is found has to play for longer, and its neighbour has to have failed. Pure:
// how a number of streams is played is the caller's.
//
// Two things would make such a search lie. Noise: a run that fails is repeated, and a number has failed when
// two of three runs did; one that failed because this computer was busy with other things is repeated, twice at
// most, before it counts. All of them are in the result. And buffers: N streams that begin with R frames each
// miss nothing, on storage that brings too little by the share s of what they need, until R / s frame periods
// have gone by. A run that ends before looks like a success. So a run has to show that its buffers do not empty
// steadily: where they do, the number is played again for long enough to see the end of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "streamsim/max_result.h"

namespace streamsim::run {

struct MaxSearchOptions {
    Duration step = seconds(20);
    Duration confirm = seconds(300);  // nothing: a number that was found is not played again
    std::uint64_t most = UINT64_MAX;  // more are not tried. REQUIRES: at least 1
    std::string why_most;             // "not asked for more"
    bool repeatable = true;           // false: a second run gives what the first one gave (virtual time)
};

/// A run that is about to begin, and what is known before it.
struct MaxNext {
    std::uint64_t streams = 0;
    Duration length;
    MaxStep::Purpose purpose = MaxStep::Purpose::search;
    std::uint64_t plays = 0;             // the most so far
    std::optional<std::uint64_t> fails;  // the least so far
    Duration at_most;  // of play until the end of the search, this run included, while confirmations succeed
};

/// Plays. Errors: interrupted ends the search; any other means that so many cannot be played here.
using MaxPlay = std::function<Result<MaxRun>(const MaxNext& next)>;

/// Fills streams, fails_at, confirmed, at_least, interrupted and steps. Errors: those of the first run, when it
/// could not be played; environment where the storage vanished; an interruption is no error.
Result<MaxFormat> find_max(const MaxSearchOptions& options, const MaxPlay& play);

/// What a run says about its number of streams. `headroom_percent`: of each stream's frame period, that the p1
/// margin has to keep.
MaxRun max_run(const RunResult& result, Duration length, double headroom_percent);

/// From the least number of frames that were buffered ahead in each interval of play: when they will have gone,
/// if they go steadily; nullopt where they do not. Counts from the beginning of play.
std::optional<Duration> buffers_empty_after(const std::vector<TimelineEntry>& timeline);

}  // namespace streamsim::run
