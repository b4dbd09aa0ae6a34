// Which streams, parts and intervals of a result a report shows. Inside report/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// At least one stream has deadlines.
bool paced(const RunResult& result);
/// At least one stream writes its frames.
bool records(const RunResult& result);
/// Every stream writes its frames; false without streams.
bool only_records(const RunResult& result);
/// A stream belongs to another seat than 0.
bool several_seats(const RunResult& result);
/// The number of streams that the seats of one computer played.
std::uint64_t streams_of(const SeatResult& seat, const RunResult& result);

/// As verdicts count: late, failed, or dropped after the first second. Stalls are told beside them.
std::uint64_t missed(const FrameCounts& counts);
/// With the drops of the first second.
std::uint64_t missed_ever(const FrameCounts& counts);
/// Missed frames, or stalls.
bool has_misses(const FrameCounts& counts);

/// Streams of one kind and rate.
struct StreamGroup {
    std::string kind;
    FrameRate rate;
    std::vector<const StreamResult*> streams;
};
/// In the order in which the groups first appear.
std::vector<StreamGroup> stream_groups(const RunResult& result);

/// Indices of result.streams, at most `limit`: the most missed frames and stalls first, then the least margin.
std::vector<std::size_t> worst_streams(const RunResult& result, std::size_t limit);
/// Indices of result.streams: in their order, or the `limit` worst first when there are more than that.
std::vector<std::size_t> shown_streams(const RunResult& result, std::size_t limit);
/// Indices of result.parts, at most `limit`: the busiest first, around the missed frames if there were any.
std::vector<std::size_t> fullest_parts(const RunResult& result, std::size_t limit);

/// Neighbouring entries merged until at most `limit` are left: counts are added, minima stay minima.
std::vector<TimelineEntry> coarser(const std::vector<TimelineEntry>& timeline, std::size_t limit);
/// The entries from 0:00 on; preroll before it is read at any speed.
std::vector<TimelineEntry> of_play(std::vector<TimelineEntry> timeline);
/// 0 for an empty interval.
double bytes_per_s(const TimelineEntry& entry);
std::uint64_t missed(const TimelineEntry& entry);

}  // namespace streamsim::report
