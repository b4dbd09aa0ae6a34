// How far counts are from what weights say, in Pearson's measure.
#pragma once

#include <cstdint>
#include <vector>

namespace streamsim::test {

/// Sum of (found - expected)^2 / expected over what has a weight. Degrees of freedom: those less one.
inline double chi_square(const std::vector<std::uint64_t>& counts, const std::vector<double>& weights) {
    double all = 0, of_weights = 0, out = 0;
    for (const std::uint64_t count : counts) all += static_cast<double>(count);
    for (const double weight : weights) of_weights += weight;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] == 0) continue;
        const double expected = all * weights[i] / of_weights;
        const double off = static_cast<double>(counts[i]) - expected;
        out += off * off / expected;
    }
    return out;
}

}  // namespace streamsim::test
