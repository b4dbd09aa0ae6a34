#include "profile/learning/fit.h"

#include <algorithm>
#include <cmath>

namespace streamsim::profile {
namespace {

constexpr double kShareDistanceMax = 0.05;  // limit for shares and distributions
constexpr double kRateDistanceMax = 0.2;    // limit for rates and for operations in flight

/// The operations that a document has.
double count_played(const Behaviour& behaviour) {
    double all = 0;
    for (std::size_t i = 0; i < kLoadOperations; ++i) all += static_cast<double>(behaviour.operations[i]);
    return all;
}

/// The distance at the 5 % level between a sample of this size and the distribution that it was drawn from. The
/// traffic counts as that distribution, however few operations it has.
double chance(double played) {
    return played > 0 ? 1.36 / std::sqrt(played) : 0;
}

/// Half the sum of the differences of the shares of all operations.
FitLine mix_line(const Behaviour& traffic, const Behaviour& played) {
    const double one = count_played(traffic), other = count_played(played);
    double sum = 0;
    for (std::size_t i = 0; i < kLoadOperations; ++i) {
        sum += std::abs(static_cast<double>(traffic.operations[i]) / std::max(one, 1.0) -
                        static_cast<double>(played.operations[i]) / std::max(other, 1.0));
    }
    return {"operation mix",  "operations", one, other, sum / 2, kShareDistanceMax + chance(other),
            "total variation"};
}

FitLine sizes_line(const char* name, const BlockFacts& traffic, const BlockFacts& played) {
    const auto one = static_cast<double>(traffic.blocks), other = static_cast<double>(played.blocks);
    double most = 0, sum_one = 0, sum_other = 0;
    auto a = traffic.sizes.begin(), b = played.sizes.begin();
    while (a != traffic.sizes.end() || b != played.sizes.end()) {
        const bool take_a = b == played.sizes.end() || (a != traffic.sizes.end() && a->first <= b->first);
        const bool take_b = a == traffic.sizes.end() || (b != played.sizes.end() && b->first <= a->first);
        if (take_a) sum_one += static_cast<double>((a++)->second);
        if (take_b) sum_other += static_cast<double>((b++)->second);
        most = std::max(most, std::abs(sum_one / std::max(one, 1.0) - sum_other / std::max(other, 1.0)));
    }
    const auto mean = [](const BlockFacts& facts) {
        return facts.blocks == 0 ? 0 : static_cast<double>(facts.bytes) / static_cast<double>(facts.blocks);
    };
    return {name,
            "bytes on average",
            mean(traffic),
            mean(played),
            most,
            kShareDistanceMax + chance(other),
            "Kolmogorov-Smirnov"};
}

FitLine share_line(const char* name, const BlockFacts& traffic, const BlockFacts& played) {
    const double one = traffic.sequential_share(), other = played.sequential_share();
    const double limit = kShareDistanceMax + chance(static_cast<double>(played.blocks));
    return {name, "% sequential", one * 100, other * 100, std::abs(one - other), limit, "difference"};
}

FitLine ratio_line(const char* name, const char* unit, double one, double other) {
    const double distance = one > 0 ? std::abs(other / one - 1) : other > 0 ? 1 : 0;
    return {name, unit, one, other, distance, kRateDistanceMax, "ratio - 1"};
}

}  // namespace

bool Fit::fits() const {
    return std::all_of(lines.begin(), lines.end(), [](const FitLine& line) { return line.fits(); });
}

Fit compare(const Behaviour& traffic, const Behaviour& played) {
    Fit fit;
    fit.traffic_operations = static_cast<std::uint64_t>(count_played(traffic));
    fit.played_operations = static_cast<std::uint64_t>(count_played(played));
    fit.lines.push_back(mix_line(traffic, played));
    if (traffic.reads.blocks + played.reads.blocks > 0) {
        fit.lines.push_back(sizes_line("read blocks", traffic.reads, played.reads));
        fit.lines.push_back(share_line("reads", traffic.reads, played.reads));
    }
    if (traffic.writes.blocks + played.writes.blocks > 0) {
        fit.lines.push_back(sizes_line("write blocks", traffic.writes, played.writes));
        fit.lines.push_back(share_line("writes", traffic.writes, played.writes));
    }
    fit.lines.push_back(ratio_line("rate", "operations/s", traffic.per_s(count_played(traffic)),
                                   played.per_s(count_played(played))));
    const auto bytes = [](const Behaviour& each) {
        return each.per_s(static_cast<double>(each.reads.bytes + each.writes.bytes));
    };
    if (bytes(traffic) + bytes(played) > 0)
        fit.lines.push_back(ratio_line("throughput", "MB/s", bytes(traffic) / 1e6, bytes(played) / 1e6));
    FitLine in_flight = ratio_line("in flight", "on average", traffic.in_flight_mean, played.in_flight_mean);
    // A tenth of an operation is no matter, whatever part of the whole it is.
    if (std::abs(traffic.in_flight_mean - played.in_flight_mean) < 0.1) in_flight.distance = 0;
    if (traffic.in_flight_mean > 0) fit.lines.push_back(in_flight);
    return fit;
}

}  // namespace streamsim::profile
