#include "fit/slow_periods.h"

#include <algorithm>
#include <cmath>

namespace streamsim::fit {
namespace {

/// The threshold that leaves the least variance within the two classes.
double otsu_threshold(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    double all = 0;
    for (const double value : values) all += value;
    double below = 0;
    double best = -1;
    double threshold = values.front();
    const auto count = static_cast<double>(values.size());
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        below += values[i];
        const double low = static_cast<double>(i + 1);
        const double between = low * (count - low) * std::pow(below / low - (all - below) / (count - low), 2);
        if (between <= best) continue;
        best = between;
        threshold = (values[i] + values[i + 1]) / 2;
    }
    return threshold;
}

}  // namespace

std::optional<SlowPeriods> slow_periods(std::span<const std::vector<double>> series,
                                        double interval_s,
                                        double share_min) {
    std::vector<double> all;
    for (const auto& each : series) all.insert(all.end(), each.begin(), each.end());
    constexpr std::size_t kIntervalsMin = 20;
    if (all.size() < kIntervalsMin) return std::nullopt;
    const double threshold = otsu_threshold(all);
    double slow = 0, fast = 0;
    std::size_t slow_count = 0;
    for (const double rate : all) {
        (rate < threshold ? slow : fast) += rate;
        slow_count += rate < threshold ? 1 : 0;
    }
    if (slow_count == 0 || slow_count == all.size()) return std::nullopt;
    SlowPeriods out;
    out.level = fast / static_cast<double>(all.size() - slow_count);
    out.share = 1 - slow / static_cast<double>(slow_count) / out.level;
    if (out.share < share_min) return std::nullopt;
    std::size_t long_ones = 0;
    for (const auto& each : series) {
        std::size_t run = 0;
        for (std::size_t i = 0; i <= each.size(); ++i) {
            if (i < each.size() && each[i] < threshold) {
                ++run;
                continue;
            }
            if (run > 0) ++out.periods;
            if (run > 1) ++long_ones;
            run = 0;
        }
    }
    if (long_ones == 0) return std::nullopt;
    const double intervals = static_cast<double>(slow_count);
    out.mean_length_s = intervals * interval_s / static_cast<double>(out.periods);
    out.mean_gap_s =
        (static_cast<double>(all.size()) - intervals) * interval_s / static_cast<double>(out.periods);
    return out;
}

}  // namespace streamsim::fit
