// What a cause is called, for an editor and for an engineer. Inside judge/ only.
#pragma once

#include <cstdint>
#include <string>

#include "judge/evidence.h"

namespace streamsim::judge {

/// "1 frame", "12 frames"
std::string frames_text(std::uint64_t count);
/// What each policy calls frames that were not there in time: "12 frames were not there when due".
std::string slow_frames(const Evidence& evidence, std::uint64_t frames, std::uint64_t stalls);

/// The times without a delivery that these frames were wanted in: "for 520.0 ms", "2 times, for 520.0 ms and
/// 510.0 ms"; empty: there was none.
std::string gaps_text(const std::vector<const MissedFrame*>& missed, const Evidence& evidence);

/// Fills summary and detail from the counts and the evidence. `missed`: those that are booked to it.
void describe(CauseResult& cause, const std::vector<const MissedFrame*>& missed, const Evidence& evidence);

/// What to measure next, where the cause is not known; else empty.
std::string what_next(Cause cause, const Evidence& evidence);

}  // namespace streamsim::judge
