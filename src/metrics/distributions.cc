#include "metrics/distributions.h"

namespace streamsim::metrics {

template <typename Act>
void Distributions::for_each_with(const Distributions& other, Act&& act) {
    act(margin, other.margin);
    act(preroll_margin, other.preroll_margin);
    act(service, other.service);
    act(response, other.response);
    act(open, other.open);
    act(seek, other.seek);
    act(sync, other.sync);
}

void Distributions::merge(const Distributions& other) {
    for_each_with(other, [](auto& own, const auto& others) { own.merge(others); });
}

void Distributions::catch_up(const Distributions& other) {
    for_each_with(other, [](auto& own, const auto& others) { own.catch_up(others); });
}

std::optional<MarginSummary> Distributions::margin_summary() const {
    const SignedHistogram& shown = shown_margin();
    if (shown.count() == 0) return std::nullopt;
    return MarginSummary{shown.min(),
                         shown.at_permille(1),
                         shown.at_permille(10),
                         shown.at_permille(100),
                         shown.at_permille(500),
                         shown.max()};
}

std::optional<LatencySummary> latency_summary(const Histogram& histogram) {
    if (histogram.count() == 0) return std::nullopt;
    return LatencySummary{histogram.at_permille(500), histogram.at_permille(900), histogram.at_permille(990),
                          histogram.at_permille(999), histogram.max()};
}

}  // namespace streamsim::metrics
