// The sentences about a cause, for an editor and for an engineer. Inside judge/ only.
#pragma once

#include <cstdint>
#include <string>

#include "judge/evidence.h"

namespace streamsim::judge {

/// "1 frame", "12 frames"
std::string frames_text(std::uint64_t count);
/// "12 frames were late or dropped"; where play waits for late frames: "play stopped 3 times, for 1.2 s in
/// all".
std::string slow_frames(const Evidence& evidence, std::uint64_t frames, std::uint64_t stalls);

/// The throughput gaps in which these frames were due: "for 520.0 ms", "2 times, for 520.0 ms and 510.0 ms";
/// empty: there was none.
std::string gaps_text(const std::vector<const MissedFrame*>& missed, const Evidence& evidence);

/// Fills in summary and detail. `missed`: the frames that are attributed to the cause.
void describe(CauseResult& cause, const std::vector<const MissedFrame*>& missed, const Evidence& evidence);

/// The advice for a cause; empty: there is none.
std::string what_next(Cause cause, const Evidence& evidence);

}  // namespace streamsim::judge
