// Finds the pace of a load: at times of its own (open loop), or after its last answer (closed loop). Inside
// profile/ only.
#pragma once

#include <vector>

#include "profile/learning/learn.h"
#include "profile/learning/transfers.h"

namespace streamsim::profile {

/// Sets the pace in the meter's specification, with the facts that led to it. `units`: of the meter, by their
/// beginnings; at least one. REQUIRES: meter.behaviour is that of the calls that they are made of.
void find_pace(const std::vector<TrafficUnit>& units, LearntMeter& meter);

}  // namespace streamsim::profile
