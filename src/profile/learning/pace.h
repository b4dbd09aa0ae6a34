// Finds the pace of a load: at times of its own (open loop), or after its last answer (closed loop). Inside
// profile/ only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/learning/learn.h"
#include "profile/learning/transfers.h"

namespace streamsim::profile {

struct Pace {
    MeterSpec::Loop loop = MeterSpec::Loop::closed;
    MeterSpec::Arrival arrival = MeterSpec::Arrival::constant;
    double operations_per_s = 0;  // rate of each user; open loop only
    std::uint32_t users = 1, inflight = 1;
    Duration think_time;
    std::uint32_t burst = 0;
    double distances_cv = 0;
    std::string reason;
    std::optional<ReadAhead> read_ahead;
};

/// `units` by their beginnings; at least one. `behaviour`: of the calls that they are made of.
Pace find_pace(const std::vector<TrafficUnit>& units, const Behaviour& behaviour);

}  // namespace streamsim::profile
