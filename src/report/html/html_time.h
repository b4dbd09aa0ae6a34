// The time line of a result, in steps that a page can show. Inside report/ only.
#pragma once

#include <cstddef>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report::html {

/// Neighbours put together until there are at most `limit`: sums stay sums, the least stays the least.
std::vector<TimelineEntry> coarser(const std::vector<TimelineEntry>& timeline, std::size_t limit);

/// Without the time before 0:00, in which the read-ahead is filled as fast as it goes.
std::vector<TimelineEntry> of_play(const std::vector<TimelineEntry>& timeline);

/// The first and the last may be shorter than the others. REQUIRES: !entries.empty().
std::int64_t longest_interval_ns(const std::vector<TimelineEntry>& entries);

/// 0 where the interval is empty.
double bytes_per_s(const TimelineEntry& entry);

/// Dropped, late and failed.
std::uint64_t missed(const TimelineEntry& entry);

}  // namespace streamsim::report::html
