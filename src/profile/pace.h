// When a load asks: at times of its own, or when it has its last answer. Inside profile/ only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/learn.h"
#include "profile/transfers.h"

namespace streamsim::profile {

struct Pace {
    MeterSpec::Loop loop = MeterSpec::Loop::closed;
    MeterSpec::Arrival arrival = MeterSpec::Arrival::constant;
    double operations_per_s = 0;  // of each user; open loop
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
