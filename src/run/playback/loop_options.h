// Distribution of a plan's streams and meters over playback loops.
#pragma once

#include <cstddef>
#include <vector>

#include "run/plan/playback_plan.h"
#include "run/playback/playback_loop.h"

namespace streamsim::run {

/// How many loops, each with a thread of its own, the streams need.
std::size_t loops_needed(const PlaybackPlan& plan);

/// The options of `loops` loops: stream i and meter i play on loop i % loops. The plan outlives them.
std::vector<PlaybackLoopOptions> loop_options(PlaybackPlan& plan, std::size_t loops);

}  // namespace streamsim::run
