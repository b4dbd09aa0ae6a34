// The search for the largest number of streams that plays: 1, 2, 4, ... until a number fails, then by halving.
// The number that is found has to play for longer, and the next one has to have failed. Pure: the caller plays.
//
// Noise and buffers would falsify such a search. Noise: a failed run is repeated, and a number has failed when
// two of three runs have; a run that failed because this computer was busy with other work is repeated, at most
// twice, before it counts. The result has all runs. Buffers: N streams that begin with R frames each miss no
// frame, on storage that is too slow by a share s, until R / s frame periods have passed. A shorter run looks
// like a success. Therefore the buffers of a run must not empty steadily: where they do, the number is played
// again for long enough to see them empty.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/max_result.h"

namespace streamsim::judge {

struct MaxSearchOptions {
    Duration step = seconds(20);
    Duration confirm = seconds(300);  // zero: the number that is found is not confirmed
    std::uint64_t most = UINT64_MAX;  // the largest number to try. REQUIRES: at least 1
    std::string why_most;             // the reason for `most`
    bool repeatable = true;           // false: a second run gives the same result (virtual time)
};

/// The length of the longest run that a search may ask for.
Duration longest_run(const MaxSearchOptions& options);

/// A run that is about to begin, and the state of the search.
struct MaxNext {
    std::uint64_t streams = 0;
    Duration length;
    MaxStep::Purpose purpose = MaxStep::Purpose::search;
    std::uint64_t plays = 0;             // the largest number that plays so far
    std::optional<std::uint64_t> fails;  // the smallest number that fails so far
    Duration at_most;  // play time until the end of the search, with this run, if all confirmations succeed

    /// In virtual time both give the same result, in one search.
    bool same(const MaxNext& other) const { return streams == other.streams && length == other.length; }
};

/// Plays. Errors: interrupted ends the search; any other: so many streams cannot be played here. That of a
/// number that has played before ends the search.
using MaxPlay = std::function<Result<MaxRun>(const MaxNext& next)>;

/// Fills in streams, fails_at, confirmed, at_least, interrupted and steps. Errors: the error of the first run,
/// or of one of the confirmation; environment where the storage vanished. Such an error goes to `ended_by`
/// where that is not null and streams have played before, and what is known is returned as interrupted. An
/// interruption is no error.
Result<MaxFormat> find_max(const MaxSearchOptions& options,
                           const MaxPlay& play,
                           std::optional<Error>* ended_by = nullptr);

/// The largest number up to `limit` that plays, 0 where none does: from `guess` up or down in steps of 1, 2, 4,
/// ..., then by halving. Errors: of `plays`.
Result<std::uint64_t> most_near(std::uint64_t guess,
                                std::uint64_t limit,
                                const std::function<Result<bool>(std::uint64_t streams)>& plays);

/// The runs for which find_max() may ask soon, whatever comes of the one for which it asks after `so_far`:
/// those that follow it, then those that follow them; at most so many, no two alike. `so_far`: what the calls
/// of `play` have returned, in their order.
std::vector<MaxNext> runs_ahead(const MaxSearchOptions& options,
                                const std::vector<Result<MaxRun>>& so_far,
                                std::size_t most);

/// The outcome of a run for its number of streams. `headroom_percent`: the part of each stream's frame period
/// that its p1 margin has to keep.
MaxRun max_run(const RunResult& result, Duration length, double headroom_percent);

/// The time from the beginning of play at which the buffers will be empty, from the minimum of buffered frames
/// in each interval; nullopt: the buffers do not empty steadily.
std::optional<Duration> buffers_empty_after(const std::vector<TimelineEntry>& timeline);

}  // namespace streamsim::judge
