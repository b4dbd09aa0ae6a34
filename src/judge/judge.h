// From the books and the evidence to a cause. Pure: the same evidence gives the same verdict, and whatever is
// not in the evidence does not count.
//
// The client's own lateness comes first: a slot that was missed while this process did not run says nothing
// about the storage. Then the media: a file that is short or not there will fail on any storage. What is left,
// the storage had in its hands: frames that came too late, and reads that it answered with an error.
//
// On a model there is more to go by: its own books say which part was full while frames were missed. That part
// is the limit, and this computer's lateness, which does not exist in virtual time, is no evidence.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/evidence.h"

namespace streamsim::judge {

/// Why frames were missed: the causes, and what each missed frame is booked to.
struct Judgement {
    Verdict verdict;
    std::vector<CauseResult> causes;  // the one that cost most first
    std::vector<Cause> booked;        // by Evidence::missed
    PlaceTest places;
};

/// late + failed + stalls + (dropped - startup_drops): what a pass has none of.
std::uint64_t bad_frames(const FrameCounts& counts);

/// Passes exactly when bad_frames(totals) is 0 and, where cold media are required, no cache may have been warm.
/// The reason is a sentence for an editor, the detail one for an engineer.
Judgement judge(const Evidence& evidence);

}  // namespace streamsim::judge
