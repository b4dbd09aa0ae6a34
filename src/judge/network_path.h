// What the path to the servers did in a span: gone, losing packets, or there while nothing came. Inside judge/
// only.
//
// A path that is gone shows in itself: the interface has no carrier, a host that had answered echoes or
// handshakes answers none, requests are sent again and not acknowledged. A server that is gone does not: its
// host's kernel goes on answering, acknowledging, or refusing. Losses show in TCP's counters on either side.
#pragma once

#include <cstdint>

#include "judge/evidence.h"
#include "judge/host_window.h"

namespace streamsim::judge {

/// The longest of the times in which the path was seen gone; 0: it was not, for as long as it takes to see it.
std::int64_t path_gone_ns(const PathSpan& span);

/// Of the segments in [from, to], and beside it, those that came out of order, as others were lost, or that
/// were sent again; 0: too few to delay data.
double lost_share(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

/// Whether so many lost segments (of lost_share()) leave a connection with this round trip less than a multiple
/// of what is required. A connection that loses a share p of its segments moves segment size / RTT *
/// sqrt(1.5 / p) (Mathis, Semke, Mahdavi and Ott 1997), and behind each loss up to a window, sqrt(8 / 3p)
/// segments, comes out of order: 2 * segment size / (RTT * lost) bytes a second are the most. On a short path a
/// computer that puts segments out of order by itself is far above what any storage gives.
/// REQUIRES: lost > 0, rtt_ns > 0.
bool losses_can_delay(double lost, std::int64_t rtt_ns, double required_bytes_per_s);

/// No server sent a byte for nearly all of a long silence: where a frame only takes long, that is not so.
bool certainly_silent(const SystemHistory& history, const Silence& silence);

/// Of frames that were missed in [from, to], most of which lies in silences of a server's: network_down,
/// network_loss, storage_stall, or unknown.
Cause cause_of_silence(const Evidence& evidence, std::int64_t from_ns, std::int64_t to_ns);

/// Of a read that a server did not answer until it was given up: network_down, network_loss, storage_error, or
/// unknown.
Cause cause_of_timeout(const SystemHistory& history, const MissedFrame& missed);

}  // namespace streamsim::judge
