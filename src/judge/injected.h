// Runs that say nothing about a storage: streamsim injected faults, or there was no storage. Inside judge/
// only.
#pragma once

#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// Corrects causes that name a storage, a network or the media where none of them was measured. REQUIRES: a
/// cause for each of evidence.missed.
///
/// With injected faults, a missed frame is attributed to them when
/// - an operation of its slot was delayed, failed or shortened; or
/// - faults held operations of its stream back at a time between the beginning of its read window (its
///   read-ahead before it was due) and its delivery: it may have waited for their in-flight slot; or
/// - the slot before it is one of these, and its read window began before the backlog was over: after a delay,
///   the stream is given as long as that delay to catch up; or
/// - it failed in one run of failed slots with a frame of which an operation failed: they share a piece.
///
/// A cause of this computer stays; the cause of any other frame is unknown, however near it is to these. A part
/// of a model stays, since a model is no measurement either.
///
/// On the null storage every operation completes at once: what is late is late on this computer.
void withhold_storage_causes(const Evidence& evidence, std::vector<Cause>& causes);

/// Fills in the sentences, from the frames that are attributed to it, of Cause::injected_fault, and of
/// Cause::unknown where faults were injected.
void describe_injected(CauseResult& cause,
                       const std::vector<const MissedFrame*>& missed,
                       const Evidence& evidence);

}  // namespace streamsim::judge
