// The distributions of the frames' times, of one stream or of many, and their summaries in a few numbers.
#pragma once

#include <optional>

#include "metrics/histogram.h"
#include "streamsim/summaries.h"

namespace streamsim::metrics {

/// nullopt: the histogram is empty.
std::optional<LatencySummary> latency_summary(const Histogram& histogram);

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

    void merge(const Distributions& other);
    /// As Histogram::catch_up.
    void catch_up(const Distributions& other);
    /// The margins to show: those while playing, or the prerolled ones where there are no others.
    const SignedHistogram& shown_margin() const { return margin.count() > 0 ? margin : preroll_margin; }

    std::optional<MarginSummary> margin_summary() const;

private:
    /// Calls act(own, other) for each distribution.
    template <typename Act>
    void for_each_with(const Distributions& other, Act&& act);
};

}  // namespace streamsim::metrics
