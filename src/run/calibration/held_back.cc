#include "run/calibration/held_back.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/system/parallel_for.h"
#include "run/calibration/probes.h"
#include "run/calibration/virtual_target.h"
#include "sim/model/model_draws.h"

namespace streamsim::run {
namespace {

constexpr double kStreamsMin = 2;
/// A prediction whose interval is wider is none.
constexpr double kWidest = 0.2;

double rate_of(const MediaFormat& format) {
    return format.mean_frame_bytes * format.rate.per_second();
}

}  // namespace

const MediaFormat& held_back_format(const std::vector<MediaFormat>& formats, const Measurement& measured) {
    STREAMSIM_CHECK(!formats.empty(), "a held-back run has a format");
    const double highest = highest_rate(measured);
    const MediaFormat* best = nullptr;
    for (const MediaFormat& format : formats) {
        if (rate_of(format) * kStreamsMin > highest) continue;
        if (best == nullptr || rate_of(format) > rate_of(*best)) best = &format;
    }
    if (best != nullptr) return *best;
    return *std::min_element(formats.begin(), formats.end(), [](const MediaFormat& a, const MediaFormat& b) {
        return rate_of(a) < rate_of(b);
    });
}

Result<StreamInterval> streams_of_model(const Calibration& calibration,
                                        const MediaFormat& format,
                                        std::uint32_t seats,
                                        const ProgramFacts& program) {
    judge::MaxSearchOptions search;
    search.confirm = seconds(60);
    search.repeatable = false;
    search.most = 10'000;
    // As fast as the error of the model may have it, and as slow.
    const std::array<double, 3> scores = {0, -sim::kScoreOf95, sim::kScoreOf95};
    std::vector<Result<MaxFormat>> most(scores.size(), Result<MaxFormat>(MaxFormat{}));
    parallel_for(
        scores.size(),
        [&](std::size_t i) {
            auto model = sim::model_at_scores(calibration.document, calibration.name, {}, scores[i]);
            most[i] = model ? most_streams(request_on(std::make_shared<const ClusterModel>(std::move(*model))),
                                           format, seats, search, program)
                            : Result<MaxFormat>(model.error());
        },
        computing_threads());
    for (const auto& each : most) {
        if (!each) return each.error();
    }
    const std::uint64_t streams = most[0]->streams;
    return StreamInterval{streams, std::min(most[1]->streams, streams), std::max(most[2]->streams, streams)};
}

Result<HeldBackCheck> check_held_back(const Calibration& calibration,
                                      const HeldBackSearch& measured,
                                      const MediaFormat& format,
                                      const ProgramFacts& program) {
    const auto streams = streams_of_model(calibration, format, measured.seats, program);
    if (!streams) return streams.error();
    HeldBackCheck check{measured, streams->streams, streams->low, streams->high};
    // An interval that is wider than a prediction may be excuses nothing.
    const auto predicted = static_cast<double>(check.predicted);
    const double low = std::max(static_cast<double>(check.low), predicted * (1 - kWidest));
    const double high = std::min(static_cast<double>(check.high), predicted * (1 + kWidest));
    const double beyond = std::max(1.0, predicted / 10);
    const auto found = static_cast<double>(measured.streams);
    const bool none = measured.streams == 0 && check.low > 0;
    const bool fewer = measured.at_least.empty() && (none || found + beyond < low);
    check.rejected = fewer || found > high + beyond;
    return check;
}

}  // namespace streamsim::run
