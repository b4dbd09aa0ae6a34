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
#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim {

/// A part of a model, as busy as it was around the frames that were not there in time.
struct BusyPart {
    PartKind kind = PartKind::seat_cpu;
    std::string name;        // "node 2 front end"
    double utilisation = 0;  // 0 to 1
    double queue_mean = 0;   // over play
    std::uint64_t lost = 0;  // switch port: segments, sent again later
    double lost_share = 0;   // of the missed frames, those in whose second some were lost
};

struct Evidence {
    FrameCounts totals;
    ReasonCounts reasons;  // start-up drops left out
    std::uint64_t client_stalls =
        0;              // of totals.stalls, those whose frame was late because the client did not run
    bool paced = true;  // false: --fps max
    bool interrupted = false;

    bool require_cold = false;
    bool server_cache_may_be_warm = false;

    // The client.
    std::int64_t longest_play_ns = 0;     // the last deadline of any stream, from its play start
    std::int64_t decode_cpu_ns = 0;       // burnt for each frame; 0: delivery only
    std::int64_t shortest_period_ns = 0;  // of the streams' frame periods; 0: no deadlines
    std::int64_t loop_lateness_p50_ns = 0;
    std::int64_t loop_stalled_ns = 0;  // time in which the player's loop did not run although it had to
    double cpu_percent = 0;            // of one processor, over the run
    std::uint32_t loops = 1;           // player threads
    std::uint32_t cpus = 1;

    // A model: its parts, without those of seats that missed nothing.
    bool modelled = false;
    std::vector<BusyPart> parts;
    /// Of the stream that missed frames because of what its frames typically took, and is the farthest from its
    /// storage: that, and how much of it is the way there and back. 0: none is.
    std::int64_t service_p50_ns = 0;
    std::int64_t way_ns = 0;
};

/// late + failed + stalls + (dropped - startup_drops): what a pass has none of.
std::uint64_t bad_frames(const FrameCounts& counts);

/// Passes exactly when bad_frames(totals) is 0 and, where cold media are required, no cache may have been warm.
/// The reason is a sentence for a person.
Verdict judge(const Evidence& evidence);

}  // namespace streamsim
