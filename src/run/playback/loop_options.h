// Distribution of a plan's streams and meters over playback loops, and of their operations over threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "run/plan/playback_plan.h"
#include "run/playback/playback_loop.h"

namespace streamsim::run {

/// Reads of all streams that the diagnosis of a run that failed has in flight, to see whether more of them
/// help: no storage answers faster for being asked more. So many times as many as are usual, at most.
inline constexpr std::uint64_t kDiagnosisReadsMax = 256;
inline constexpr std::uint64_t kDiagnosisReadsFactorMax = 4;

/// How many loops, each with a thread of its own, the streams need.
std::size_t loops_needed(const PlaybackPlan& plan);

/// The options of `loops` loops: stream i and meter i play on loop i % loops. The plan outlives them.
std::vector<PlaybackLoopOptions> loop_options(PlaybackPlan& plan, std::size_t loops);

// libuv's thread pool, which the whole process shares: each read and each open that may block has a thread of
// it.

/// Makes the pool large enough for `streams` streams of the request. The first run of a process decides the
/// size: to be called before it, where later runs play more streams.
void reserve_io_threads(const PlayRequest& request, std::uint64_t streams);

struct IoThreads {
    std::uint64_t needed = 0;  // at once; 0: no pool is needed
    std::uint64_t better = 0;  // for the diagnosis, where the system gives them all
};
/// The same for the threads of the largest run.
void reserve_io_threads(const IoThreads& threads);
/// The threads of a run of the request on these media.
IoThreads io_threads_of(const PlayRequest& request, const FoundMedia& media);

/// Makes the pool large enough for all operations of the loops at once, and for the diagnosis. Loops that read
/// with it will say that it is too small for them, by an earlier run or by the user.
void size_io_threads(const PlayRequest& request, std::vector<PlaybackLoopOptions>& loops);

/// Reads that the pool can do at once where it is too small for the diagnosis of these streams; nullopt: it is
/// not. REQUIRES: the pool has its size.
std::optional<std::uint64_t> reads_of_small_pool(const std::vector<StreamPlan>& streams);

}  // namespace streamsim::run
