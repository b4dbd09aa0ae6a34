// libuv's thread pool, which the whole process shares: each read and each open that may block has a thread of
// it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/plan/play_request.h"
#include "streamsim/storage.h"

namespace streamsim::run {

/// Makes the pool large enough for `streams` streams of the request. The first run of a process decides the
/// size: to be called before it, where later runs play more streams.
void reserve_io_threads(const PlayRequest& request, std::uint64_t streams);

/// Makes the pool large enough for `operations` at once, with a notice where an earlier run left it smaller.
void size_io_threads(const PlayRequest& request, std::uint64_t operations, const NoticeSink& notice);

}  // namespace streamsim::run
