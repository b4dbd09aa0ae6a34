// Books each missed frame to one cause. Inside judge/ only.
//
// Frames of a stream that were missed close to each other (not farther apart than its read-ahead) are one
// episode: what held one of them up, held up the others, too. An episode is booked by its slowest frame, to the
// first of these that the evidence shows:
//
//   client-scheduling  the computer was suspended meanwhile (CLOCK_BOOTTIME ran ahead of CLOCK_MONOTONIC)
//   storage-gone       its directory is not there any more
//   client-memory, client-resources
//                      an error that says that this computer had no memory, or no descriptor, left
//   damaged-file       the frame cannot come, and could not when it was read again, or on any pass
//   storage-error      the storage gave an error, and not where the media is
//   network-down       the path to the server was gone: no carrier, no answers, nothing acknowledged
//   client-...         the player did not run, or had no processor time; of the reasons of the books
//   client-memory      tasks waited for memory, and this process had met its limit
//   client-cpu         every processor was busy, with other things too, and this process waited for one
//   storage-stall      meanwhile no stream got a byte; of a server only where its host answered meanwhile, else
//                      it is not known whose it is
//   network-loss       its bytes came over a network that lost segments, more than so short a round trip makes
//                      up for, and was not full
//   slow-file          the frame is slow again when it is read alone, and its neighbours are not; or, where
//                      nothing was read again, it was missed on each pass and others were not
//   slow-opens         its open took longer than its reading
//   network            its bytes came over a network that was full: the interface, or slow round trips
//   too-small-reads, too-little-in-flight
//                      it was asked for less at once than an editing system asks for, and asked for like that
//                      the storage gives enough
//   slow-reads         asked for more at once it gives more: what counts is the time that it takes to answer
//   bandwidth          it gives no more, whatever is asked
//
// What was late in the first second, which does not count, is a cold start, unless a slow file held it up.
//
// If then everything that counts was missed at the beginning, or on the first pass alone, it is a cold start.
#pragma once

#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// A cause for each of evidence.missed. REQUIRES: not modelled.
std::vector<Cause> book_causes(const Evidence& evidence, const PlaceTest& places);

/// Whether the same places were missed on each pass.
PlaceTest test_places(const Evidence& evidence);

/// By Evidence::missed: this frame of its clip was missed on (nearly) every pass, and there were two or more.
std::vector<bool> missed_every_pass(const Evidence& evidence);

/// Long enough that it was no pause between two frames of a stream with this period.
bool is_stall(const Silence& gap, std::int64_t period_ns);

/// Whose a cause is.
Limit limit_of(Cause cause);

/// The bytes came over a network: as many came in by one interface as were read.
bool through_network(const Evidence& evidence);

}  // namespace streamsim::judge
