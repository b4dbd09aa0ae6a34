// The state of the path to the servers in a span: gone, losing packets, or working without data. Inside judge/
// only.
//
// A path that is gone is observed: the interface has no carrier, a host that had answered pings or handshakes
// answers none, requests are sent again and not acknowledged. A server that is gone does not: its
// host's kernel goes on answering, acknowledging, or refusing. Losses show in TCP's counters on either side.
#pragma once

#include <cstdint>

#include "judge/evidence.h"
#include "judge/host_window.h"

namespace streamsim::judge {

/// The path of the data, by the interface that carried most of them.
NetworkPathFacts path_of_data(const Evidence& evidence);

/// The longest time in which the path was gone; 0: it was not, or for too short a time to be certain.
std::int64_t path_gone_ns(const PathSpan& span);

/// The share of segments in and around [from, to] that came out of order, as others were lost, or that were
/// sent again; 0: too few to delay data.
double lost_share(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

/// With such a share of lost segments, and of those behind them, the network delays data in any case.
inline constexpr double kHighLossShare = 0.1;

/// True: with so many lost segments (lost_share()) a connection with this round trip moves less than a multiple
/// of the required rate. A connection that loses a share p of its segments moves segment size / RTT *
/// sqrt(1.5 / p) (Mathis, Semke, Mahdavi and Ott 1997), and behind each loss up to a window, sqrt(8 / 3p)
/// segments, comes out of order: 2 * segment size / (RTT * lost) bytes a second are the most. On a short path a
/// computer that puts segments out of order by itself is far above what any storage gives.
/// REQUIRES: lost > 0, rtt_ns > 0.
bool losses_can_delay(double lost, std::int64_t rtt_ns, double required_bytes_per_s);

/// lost_share(), or 0 where TCP makes up for so few losses at the round trip of that time.
double delaying_loss_share(const Evidence& evidence, std::int64_t from_ns, std::int64_t to_ns);

/// True: no server sent a byte for nearly all of a long gap. A frame that only takes long receives some.
bool is_certain_gap(const SystemHistory& history, const DeliveryGap& gap);

/// The cause of frames that were missed in [from, to], which lies mostly in throughput gaps of a server:
/// network_down, network_loss, storage_stall, or unknown.
Cause cause_of_gap(const Evidence& evidence, std::int64_t from_ns, std::int64_t to_ns);

/// The cause of a read that timed out: network_down, network_loss, storage_error, or unknown.
Cause cause_of_timeout(const Evidence& evidence, const MissedFrame& missed);

}  // namespace streamsim::judge
