// The time line of a result in as many steps as a page can show. Inside report/ only.
#pragma once

#include <cstddef>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// Neighbouring entries merged until at most `limit` are left: counts are added, minima stay minima.
std::vector<TimelineEntry> coarser(const std::vector<TimelineEntry>& timeline, std::size_t limit);

/// The entries from 0:00 on; preroll before it is read at any speed.
std::vector<TimelineEntry> of_play(const std::vector<TimelineEntry>& timeline);

/// The usual length of an entry: the first and the last may be shorter. REQUIRES: !entries.empty().
std::int64_t longest_interval_ns(const std::vector<TimelineEntry>& entries);

/// 0 for an empty interval.
double bytes_per_s(const TimelineEntry& entry);

std::uint64_t missed(const TimelineEntry& entry);

}  // namespace streamsim::report
