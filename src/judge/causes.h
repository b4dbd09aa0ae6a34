// Attributes each missed frame to one cause. Inside judge/ only.
//
// Missed frames of a stream that are not farther apart than its read-ahead are one episode: they share their
// cause. The slowest frame of an episode decides; its cause is the first of these that the evidence shows:
//
//   client-scheduling  the computer was suspended meanwhile (CLOCK_BOOTTIME ran ahead of CLOCK_MONOTONIC)
//   storage-gone       its directory has vanished
//   client-memory, client-resources
//                      an error for lack of memory, or of descriptors, on this computer
//   damaged-file       the frame failed in play and when it was re-read, or on every pass
//   storage-error      the storage returned an error that is not the file's
//   network-down       the path to the server was gone: no carrier, no answers, nothing acknowledged
//   client-...         the player did not run, or had no processor time
//   client-memory      tasks waited for memory, and this process had met its limit
//   client-cpu         every processor was busy, also with other work, and this process waited for one; or
//                      too-small-reads, whose work that is
//   storage-stall      no stream received data meanwhile; for a server, where its host answered meanwhile, else
//                      the cause is unknown
//   network-loss       the network lost more segments than TCP makes up for in so short a round trip, and was
//                      not full
//   slow-file          the frame is slow again when it is re-read alone, and its neighbours are not; or,
//   without
//                      re-reads, it was missed on each pass and others were not
//   slow-opens         its open took longer than its read
//   network            the network was full: its interface, or the round trips were slow
//   too-small-reads, too-little-in-flight
//                      the player reads less at once than an editing system, which is not enough; read like
//                      one the storage gives enough
//   slow-reads         with more in flight the storage gives more: its latency is the limit; or that was not
//                      measured
//   bandwidth          the storage gives no more, and less than is required, however it is read; over a
//                      network the cause is unknown where one processor was full meanwhile
//
// Frames that were late in the first second, which does not count, are a cold start, unless a slow file delayed
// them.
//
// If all frames that count were missed at the beginning, or on the first pass alone, their cause is a cold
// start.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// A cause for each of evidence.missed. REQUIRES: not modelled.
std::vector<Cause> classify_causes(const Evidence& evidence, const PlaceTest& places);

/// Corrects causes that name a storage, a network or the media where none of them was measured. REQUIRES: a
/// cause for each of evidence.missed.
///
/// With injected faults, a missed frame is attributed to them when
/// - an operation of its slot was delayed, failed or shortened; or
/// - faults delayed operations of its stream at a time between the beginning of its read window (its
///   read-ahead before it was due) and its delivery: it may have waited for their in-flight slot; or
/// - the slot before it is one of these, and its read window began before the backlog was over: after a delay,
///   the stream is given as long as that delay to catch up; or
/// - it failed in one run of failed slots with a frame of which an operation failed: they share a piece.
///
/// A cause of this computer stays, unless a fault failed the frame, whatever its error was; the cause of any
/// other frame is unknown, however near it is to these. A part of a model stays, since a model is no
/// measurement either.
///
/// On the null storage every operation completes at once: this computer is the cause of every late frame.
void withhold_storage_causes(const Evidence& evidence, std::vector<Cause>& causes);

/// Tests whether the same places of the media were missed on each pass.
PlaceTest test_places(const Evidence& evidence);

/// By Evidence::missed: this frame of its clip was missed on (nearly) every pass, and there were two or more.
std::vector<bool> missed_every_pass(const Evidence& evidence);

/// True: the gap is longer than any pause between two frames of a stream with this period.
bool is_stall(const DeliveryGap& gap, std::int64_t period_ns);

/// The bytes that the storage gave or took, whichever was more, and those that one interface carried that way
/// meanwhile. Bytes from this computer's own page cache are no server's.
struct StorageTraffic {
    bool writes = false;
    std::uint64_t moved = 0;
    std::uint64_t carried = 0;
};
StorageTraffic storage_traffic(const Evidence& evidence);
/// True: one interface carried about as many bytes as the storage gave or took, and the media are not on a disk
/// of this computer.
bool through_network(const Evidence& evidence);

// The rates that the diagnosis measured without deadlines: measured_rates.cc.

/// True: at least what is required.
bool gives_enough(const Evidence& evidence, const std::optional<ProbeResult>& probe);

/// True: the pieces are so small that requests, not data, are the work of the storage or this computer: larger
/// ones would be enough, and these are not.
bool small_reads_cost(const Evidence& evidence);

/// True: with more in flight the storage gives clearly more.
bool more_would_help(const Evidence& evidence);

/// True: read in another way than as played, it gives at least what is required.
bool another_way_gives_enough(const Evidence& evidence);

/// True: the storage gives too little, and more in flight was not seen to give more.
bool rate_is_limit(const Evidence& evidence);

/// too_small_reads, too_little_in_flight, bandwidth, or slow_reads, also where the rates do not tell.
Cause cause_of_rates(const Evidence& evidence);

}  // namespace streamsim::judge
