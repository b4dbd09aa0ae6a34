#include "fit/queueing.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "fit/minimise.h"

namespace streamsim::fit {

std::vector<ClosedPoint> mean_value_analysis(const ClosedNetwork& network, std::size_t customers) {
    std::vector<double> waiting(network.demands_s.size(), 0);  // mean number at each station
    std::vector<ClosedPoint> points;
    for (std::size_t n = 1; n <= customers; ++n) {
        ClosedPoint point;
        point.response_s = network.delay_s;
        for (std::size_t k = 0; k < waiting.size(); ++k)
            point.response_s += network.demands_s[k] * (1 + waiting[k]);
        point.throughput_per_s = point.response_s > 0 ? static_cast<double>(n) / point.response_s : 0;
        for (std::size_t k = 0; k < waiting.size(); ++k)
            waiting[k] = point.throughput_per_s * network.demands_s[k] * (1 + waiting[k]);
        points.push_back(point);
    }
    return points;
}

ClosedNetwork bottleneck_of(std::span<const LadderPoint> ladder) {
    STREAMSIM_CHECK(!ladder.empty(), "a ladder has a point");
    std::size_t customers = 0;
    double highest = 0;
    double response = HUGE_VAL;  // of one customer
    for (const LadderPoint& point : ladder) {
        customers = std::max(customers, point.customers);
        highest = std::max(highest, point.throughput_per_s);
        response = std::min(response, static_cast<double>(point.customers) / point.throughput_per_s);
    }
    const double demand = std::min(1 / highest, response);
    const double delay = std::max(response - demand, 1e-9);
    const auto network_at = [](const std::vector<double>& at) {
        return ClosedNetwork{{std::exp(at[0])}, std::exp(at[1])};
    };
    const auto distance = [&](const std::vector<double>& at) {
        const auto points = mean_value_analysis(network_at(at), customers);
        double sum = 0;
        for (const LadderPoint& point : ladder)
            sum += std::pow(std::log(points[point.customers - 1].throughput_per_s / point.throughput_per_s), 2);
        return sum;
    };
    constexpr double kRange = 3;  // of the logarithm
    constexpr int kEvaluations = 400;
    const auto around = [](double value) {
        return FreeParameter{std::log(value), std::log(value) - kRange, std::log(value) + kRange};
    };
    return network_at(minimise({around(demand), around(delay)}, distance, kEvaluations).at);
}

}  // namespace streamsim::fit
