// Distribution of a plan's streams and meters over playback loops, and of their operations over threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/plan/playback_plan.h"
#include "run/playback/playback_loop.h"

namespace streamsim::run {

/// How many loops, each with a thread of its own, the streams need.
std::size_t loops_needed(const PlaybackPlan& plan);

/// The options of `loops` loops: stream i and meter i play on loop i % loops. The plan outlives them.
std::vector<PlaybackLoopOptions> loop_options(PlaybackPlan& plan, std::size_t loops);

// libuv's thread pool, which the whole process shares: each read and each open that may block has a thread of
// it.

/// Makes the pool large enough for `streams` streams of the request. The first run of a process decides the
/// size: to be called before it, where later runs play more streams.
void reserve_io_threads(const PlayRequest& request, std::uint64_t streams);

/// The same for `threads`, of the largest run.
void reserve_io_threads(std::uint64_t threads);
/// Threads that a run of the request on these media needs at once; 0: it needs no pool.
std::uint64_t io_threads_of(const PlayRequest& request, const FoundMedia& media);

/// Makes the pool large enough for all operations of the loops at once. Loops that read with it will say that
/// it stays smaller, by an earlier run or by the user.
void size_io_threads(const PlayRequest& request, std::vector<PlaybackLoopOptions>& loops);

}  // namespace streamsim::run
