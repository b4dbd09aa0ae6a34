// From the evidence to a verdict with its causes. Pure: the same evidence gives the same verdict.
//
// The lateness of this computer comes first: a slot that was missed while this process did not run says nothing
// about the storage. The media come next: a file that is short or missing fails on any storage. The storage is
// responsible for the rest: frames that came too late, and reads that it answered with an error.
//
// A model gives more evidence: its statistics show which part was full while frames were missed. That part is
// the limit. This computer is never late in virtual time.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// Why frames were missed.
struct Judgement {
    Verdict verdict;
    std::vector<CauseResult> causes;   // the largest first
    std::vector<Cause> missed_causes;  // by Evidence::missed
    PlaceTest places;
};

/// Drops of the first second do not count against a verdict.
inline constexpr std::int64_t kStartupNs = 1'000'000'000;

/// late + failed + stalls + (dropped - startup_drops): a run passes with none of these.
std::uint64_t bad_frames(const FrameCounts& counts);

/// The verdict passes exactly when bad_frames(totals) is 0 and, where cold media are required, no cache may
/// have been warm. Its reason is a sentence for an editor, its detail one for an engineer.
Judgement judge(const Evidence& evidence);

}  // namespace streamsim::judge
