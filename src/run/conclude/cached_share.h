// The page cache of this computer, and what streams find in it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/growing_list.h"
#include "run/plan/stream_plan.h"

namespace streamsim::run {

/// The slots of a stream from which cached_share() takes its sample: of the first pass, as far as it plays.
std::uint64_t slots_of_cached_share(const StreamPlan& plan);

/// The part of these slots' frames that is in the page cache, by a sample; nullopt: it cannot be said. Blocks.
/// REQUIRES: no stream plays.
std::optional<double> cached_share(const GrowingList<StreamPlan>& streams);

}  // namespace streamsim::run
