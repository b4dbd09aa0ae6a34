// What the path to the servers did in a span: gone, losing packets, or there while nothing came. Inside judge/
// only.
//
// A path that is gone shows in itself: the interface has no carrier, a host that had answered echoes or
// handshakes answers none, requests are sent again and not acknowledged. A server that is gone does not: its
// host's kernel goes on answering, acknowledging, or refusing. Losses show in TCP's counters on either side.
#pragma once

#include <cstdint>

#include "judge/around.h"

namespace streamsim {

/// The longest of the times in which the path was seen gone; 0: it was not, for as long as it takes to see it.
std::int64_t path_gone_ns(const PathSpan& span);

/// Of the segments in [from, to], and beside it, those that came out of order, as others were lost, or that
/// were sent again; 0: too few to hold data up.
double lost_share(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

/// A server's host answered while no byte came.
bool host_answered(const PathSpan& span);

}  // namespace streamsim
