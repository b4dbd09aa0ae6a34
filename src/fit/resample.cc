#include "fit/resample.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/prng.h"

namespace streamsim::fit {

std::vector<double> resampled_means(std::span<const double> series,
                                    std::size_t block,
                                    std::size_t count,
                                    std::uint64_t seed) {
    STREAMSIM_CHECK(!series.empty(), "a series has values");
    block = std::clamp<std::size_t>(block, 1, series.size());
    const std::size_t starts = series.size() - block + 1;
    Prng prng(seed);
    std::vector<double> means(count);
    for (double& mean : means) {
        double sum = 0;
        std::size_t taken = 0;
        while (taken < series.size()) {
            const std::size_t from = prng.below(starts);
            for (std::size_t i = 0; i < block && taken < series.size(); ++i, ++taken) sum += series[from + i];
        }
        mean = sum / static_cast<double>(series.size());
    }
    return means;
}

std::optional<double> spread_of_mean(std::span<const double> series, std::size_t block, std::uint64_t seed) {
    constexpr std::size_t kResamples = 200;
    if (series.size() < 2 * block || series.size() < 4) return std::nullopt;
    double sum = 0;
    double squares = 0;
    for (const double mean : resampled_means(series, block, kResamples, seed)) {
        const double value = std::log(std::max(mean, 1e-12));
        sum += value;
        squares += value * value;
    }
    const double mean = sum / kResamples;
    return std::sqrt(std::max(squares / kResamples - mean * mean, 0.0));
}

double quantile(std::vector<double> values, double share) {
    STREAMSIM_CHECK(!values.empty(), "a quantile is of values");
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    if (below + 1 >= values.size()) return values.back();
    return values[below] + (at - static_cast<double>(below)) * (values[below + 1] - values[below]);
}

}  // namespace streamsim::fit
