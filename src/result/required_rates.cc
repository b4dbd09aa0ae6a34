#include "result/required_rates.h"

#include <algorithm>
#include <utility>

namespace streamsim::result {
namespace {

/// Streams whose rates differ end a part of a frame apart, and clocks of two computers differ.
constexpr std::int64_t kSameInstantNs = 100'000'000;

}  // namespace

std::vector<RequiredRate> rate_steps(const std::vector<RateSpan>& spans) {
    std::vector<std::pair<std::int64_t, double>> changes;
    for (const RateSpan& span : spans) {
        if (!(span.bytes_per_s > 0) || span.to_ns <= span.from_ns) continue;
        changes.emplace_back(span.from_ns, span.bytes_per_s);
        changes.emplace_back(span.to_ns, -span.bytes_per_s);
    }
    std::ranges::stable_sort(changes, [](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        return a.second < 0 && b.second > 0;
    });
    std::vector<RequiredRate> steps;
    double now = 0;
    for (const auto& [at_ns, change] : changes) {
        now = std::max(0.0, now + change);
        if (steps.empty() || steps.back().t_ns != at_ns) steps.push_back({at_ns, 0});
        steps.back().bytes_per_s = now;
    }
    if (!steps.empty()) steps.back().bytes_per_s = 0;  // the rest is rounding
    return steps;
}

double highest(const std::vector<RequiredRate>& steps) {
    double most = 0;
    for (const RequiredRate& step : steps) most = std::max(most, step.bytes_per_s);
    return most;
}

std::vector<RequiredRate> required_rates(const std::vector<StreamResult>& streams, bool recorders) {
    std::vector<RateSpan> spans;
    for (const StreamResult& stream : streams) {
        if ((stream.records && !recorders) || !stream.paced || stream.counts.scheduled == 0) continue;
        spans.push_back({stream.play_start_ns,
                         stream.play_start_ns + stream.last_due_ns + stream.rate.period().ns,
                         stream.required_bytes_per_s});
    }
    std::vector<RequiredRate> steps;
    std::int64_t instant_ns = 0;
    for (const RequiredRate& step : rate_steps(spans)) {
        const bool same = !steps.empty() && step.t_ns - instant_ns < kSameInstantNs;
        if (!same) steps.push_back(step);
        if (!same) instant_ns = step.t_ns;
        steps.back().bytes_per_s = step.bytes_per_s;
    }
    if (steps.size() <= 2) steps.clear();
    return steps;
}

}  // namespace streamsim::result
