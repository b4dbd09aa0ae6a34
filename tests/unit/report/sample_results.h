// Results made by hand, for the report writers' tests: what a writer shows must not depend on a player.
#pragma once

#include "streamsim/run_result.h"

namespace streamsim::samples {

/// A result and its name in the files of tests/golden.
struct Sample {
    const char* name;
    RunResult (*make)();
};

/// 4 streams of dpx12, nothing dropped, cold, direct.
RunResult plays();
/// 212 of 960 frames dropped, 12 of them in the first second; the media were just written and loop.
RunResult does_not_play();
/// Read errors, a short file and a missing one.
RunResult failures();
/// Two seats, two formats, on-miss stall and hold at once.
RunResult seats_and_stalls();
/// --fps max.
RunResult as_fast_as_it_goes();
/// Ctrl-C in preroll: everything that can be null or empty is.
RunResult interrupted();
/// 100 streams and 50 drops, of which the tables show the worst.
RunResult many_streams();
/// Names with control characters, quotes, commas and bytes that are not UTF-8; a rate that is not a number.
RunResult hostile();
/// does_not_play() for a minute, with everything that can be known of a run on a network mount.
RunResult told_in_full();
/// seats_and_stalls() by two computers, of which one vanished, with a third of which nothing is known.
RunResult several_computers();
/// On a model whose seat has no processor time left.
RunResult modelled();

}  // namespace streamsim::samples
