// Missed frames and stalls of play become events. Misses belong together when they have one cause, follow each
// other within 0.1 s or three frame periods, and no new throughput gap began between them. Causes that last,
// such as a full link, make frames late now and then: their misses also belong together within a second, and
// through gaps that do not interrupt them.
#pragma once

#include <cstdint>
#include <vector>

#include "streamsim/miss_event.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// A missed frame, or a stall of play. Times count from the first play_start.
struct Miss {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint64_t slot = 0;
    std::int64_t from_ns = 0;    // its deadline
    std::int64_t to_ns = 0;      // the end of its frame period, or of the stall
    std::int64_t period_ns = 0;  // of its stream's frames
    Cause cause = Cause::unknown;
    bool stall = false;
    bool startup = false;  // does not count against the verdict
};

/// An event, whose first frame has seat, stream and slot alone, and the indices of its misses, the first
/// frame's in front. The evidence is the caller's.
struct MissGroup {
    MissEvent event;
    std::vector<std::size_t> misses;
};

/// By time. `gaps`: times without data, by time.
std::vector<MissGroup> group_misses(const std::vector<Miss>& misses, const std::vector<ThroughputGap>& gaps);

/// The events of a document that has none: by its drops alone, without evidence and stalls.
std::vector<MissEvent> events_of_drops(const RunResult& result);

/// The events of several computers on one time axis: events of one cause become one where they overlap or
/// follow each other within the pause that ends an event, with the first frame and the evidence of the one that
/// began first. Throughput gaps are of one computer and do not count. By time. `streams`: of all computers; an
/// event has no more of them, where two events of one computer have become one, and the longest frame period
/// counts.
std::vector<MissEvent> merged_events(std::vector<MissEvent> events, const std::vector<StreamResult>& streams);

}  // namespace streamsim::result
