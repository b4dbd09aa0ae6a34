// The distributions of the frames' times, of one stream or of many, and their summaries in a few numbers.
#pragma once

#include <optional>

#include "metrics/histogram.h"
#include "streamsim/summaries.h"

namespace streamsim::metrics {

/// nullopt: the histogram is empty.
inline std::optional<LatencySummary> latency_summary(const Histogram& histogram) {
    if (histogram.count() == 0) return std::nullopt;
    return LatencySummary{histogram.at_permille(500), histogram.at_permille(900), histogram.at_permille(990),
                          histogram.at_permille(999), histogram.max()};
}

struct Distributions {
    /// Margins of frames that were scheduled while playing. The margins of prerolled frames are kept apart:
    /// play begins when these frames are complete, so that their margins say nothing about the storage.
    SignedHistogram margin;
    SignedHistogram preroll_margin;
    Histogram service;
    Histogram response;
    Histogram open;
    Histogram seek;  // from the request of a jump to its first frame
    Histogram sync;  // fsyncs of recordings, as each frame waited for its own

    void merge(const Distributions& other) {
        for_each_with(other, [](auto& own, const auto& others) { own.merge(others); });
    }
    /// As Histogram::catch_up.
    void catch_up(const Distributions& other) {
        for_each_with(other, [](auto& own, const auto& others) { own.catch_up(others); });
    }
    /// The margins to show: those while playing, or the prerolled ones where there are no others.
    const SignedHistogram& shown_margin() const { return margin.count() > 0 ? margin : preroll_margin; }

    std::optional<MarginSummary> margin_summary() const {
        const SignedHistogram& shown = shown_margin();
        if (shown.count() == 0) return std::nullopt;
        return MarginSummary{shown.min(),
                             shown.at_permille(1),
                             shown.at_permille(10),
                             shown.at_permille(100),
                             shown.at_permille(500),
                             shown.max()};
    }

private:
    /// Calls act(own, other) for each distribution.
    template <typename Act>
    void for_each_with(const Distributions& other, Act&& act) {
        act(margin, other.margin);
        act(preroll_margin, other.preroll_margin);
        act(service, other.service);
        act(response, other.response);
        act(open, other.open);
        act(seek, other.seek);
        act(sync, other.sync);
    }
};

}  // namespace streamsim::metrics
