// Runs that say nothing about a storage: streamsim injected faults, or there was no storage. Inside judge/
// only.
#pragma once

#include <vector>

#include "judge/evidence.h"

namespace streamsim {

/// Corrects causes that name a storage, a network or the media where none of them was measured. REQUIRES: a
/// cause for each of evidence.missed.
///
/// With injected faults, a missed frame is attributed to them when an operation of its slot was delayed, failed
/// or shortened, or when it belongs to one episode with such a frame (missed frames of one stream, not farther
/// apart than its read-ahead): the frame behind waits for the in-flight slot. A cause of this computer stays;
/// the cause of any other frame is unknown. A part of a model stays, since a model is no measurement either.
///
/// On the null storage every operation completes at once: what is late is late on this computer.
void withhold_storage_causes(const Evidence& evidence, std::vector<Cause>& causes);

/// Fills in the sentences, from the frames that are attributed to it, of Cause::injected_fault, and of
/// Cause::unknown where faults were injected.
void describe_injected(CauseResult& cause,
                       const std::vector<const MissedFrame*>& missed,
                       const Evidence& evidence);

}  // namespace streamsim
