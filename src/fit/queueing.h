// Mean value analysis of a closed queueing network: the start of a fit, before the simulator is asked.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace streamsim::fit {

/// Customers circulate between stations with one server each and a delay without a queue.
struct ClosedNetwork {
    std::vector<double> demands_s;  // seconds of service at each station, for each round
    double delay_s = 0;             // seconds elsewhere, for each round
};

struct ClosedPoint {
    double throughput_per_s = 0;  // rounds of all customers
    double response_s = 0;        // of a round, delay included
};

/// Exact for exponential service (Reiser and Lavenberg, "Mean-value analysis of closed multichain queueing
/// networks", 1980): 1, 2, ... `customers`.
std::vector<ClosedPoint> mean_value_analysis(const ClosedNetwork& network, std::size_t customers);

/// A point of a ladder: so many in flight, so many rounds a second.
struct LadderPoint {
    std::size_t customers = 1;
    double throughput_per_s = 0;
};

/// The network of one station and a delay whose throughputs are the nearest to the ladder's, by the squares of
/// the logarithms' differences. REQUIRES: a point, all throughputs above 0.
ClosedNetwork bottleneck_of(std::span<const LadderPoint> ladder);

}  // namespace streamsim::fit
