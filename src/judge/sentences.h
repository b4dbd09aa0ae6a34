// What a cause is called, for an editor and for an engineer. Inside judge/ only.
#pragma once

#include <cstdint>
#include <string>

#include "judge/evidence.h"

namespace streamsim {

/// "1 frame", "12 frames"
std::string frames_text(std::uint64_t count);
/// What each policy calls frames that were not there in time: "12 frames were not there when due".
std::string slow_frames(const Evidence& evidence, std::uint64_t frames, std::uint64_t stalls);

/// Fills summary and detail from the counts and the evidence. `missed`: those that are booked to it.
void describe(CauseResult& cause, const std::vector<const MissedFrame*>& missed, const Evidence& evidence);

/// What to measure next, where the cause is not known; else empty.
std::string what_next(Cause cause, const Evidence& evidence);

}  // namespace streamsim
