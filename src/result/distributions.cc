#include "result/distributions.h"

#include <algorithm>

namespace streamsim::result {
namespace {

template <typename Source>
HistogramCounts counts_of(const Source& histogram) {
    HistogramCounts out;
    if (histogram.count() == 0) return out;
    out.min = histogram.min();
    out.max = histogram.max();
    histogram.each([&out](std::int64_t value, std::uint64_t times) { out.buckets.push_back({value, times}); });
    std::sort(out.buckets.begin(), out.buckets.end(),
              [](const auto& a, const auto& b) { return a.value < b.value; });
    return out;
}

/// The least and the largest value are known exactly: one of each stands in the first bucket and the last.
template <typename Target>
void add_all(const HistogramCounts& counts, Target& to) {
    std::vector<HistogramCounts::Bucket> left = counts.buckets;
    if (left.empty()) return;
    for (const bool least : {true, false}) {
        HistogramCounts::Bucket& bucket = least ? left.front() : left.back();
        if (bucket.times == 0) continue;
        to.add(least ? counts.min : counts.max);
        --bucket.times;
    }
    for (const HistogramCounts::Bucket& bucket : left) to.add(bucket.value, bucket.times);
}

/// 1, 2 or 5 times a power of ten, so that `range_ns` has at most `most` of them.
std::int64_t round_width(std::int64_t range_ns, std::int64_t most) {
    for (std::int64_t power = 1'000;; power *= 10) {
        for (const std::int64_t step : {1, 2, 5}) {
            if (range_ns / (power * step) < most) return power * step;
        }
    }
}

std::vector<MarginBin> bins_of(const metrics::SignedHistogram& margins) {
    std::vector<MarginBin> bins;
    if (margins.count() == 0) return bins;
    constexpr std::int64_t kMost = 40;
    const std::int64_t width = round_width(margins.max() - margins.min(), kMost);
    const auto floor_of = [width](std::int64_t ns) {
        return (ns >= 0 ? ns / width : -((-ns + width - 1) / width)) * width;
    };
    for (std::int64_t from = floor_of(margins.min()); from <= margins.max(); from += width)
        bins.push_back({from, from + width, 0});
    margins.each([&](std::int64_t ns, std::uint64_t times) {
        bins[static_cast<std::size_t>((ns - bins.front().from_ns) / width)].frames += times;
    });
    return bins;
}

}  // namespace

StreamHistograms histograms_of(const metrics::Distributions& times, const std::vector<std::uint64_t>& depths) {
    StreamHistograms out;
    out.margin_ns = counts_of(times.margin);
    out.preroll_margin_ns = counts_of(times.preroll_margin);
    out.service_ns = counts_of(times.service);
    out.response_ns = counts_of(times.response);
    out.open_ns = counts_of(times.open);
    out.seek_ns = counts_of(times.seek);
    out.sync_ns = counts_of(times.sync);
    for (std::size_t depth = 0; depth < depths.size(); ++depth) {
        if (depths[depth] == 0) continue;
        const auto value = static_cast<std::int64_t>(depth);
        if (out.buffer_frames.buckets.empty()) out.buffer_frames.min = value;
        out.buffer_frames.max = value;
        out.buffer_frames.buckets.push_back({value, depths[depth]});
    }
    return out;
}

metrics::Distributions distributions_of(const StreamHistograms& histograms) {
    metrics::Distributions out;
    add_all(histograms.margin_ns, out.margin);
    add_all(histograms.preroll_margin_ns, out.preroll_margin);
    add_all(histograms.service_ns, out.service);
    add_all(histograms.response_ns, out.response);
    add_all(histograms.open_ns, out.open);
    add_all(histograms.seek_ns, out.seek);
    add_all(histograms.sync_ns, out.sync);
    return out;
}

void fill_summaries(const metrics::Distributions& all, RunResult& result) {
    result.margin_ns = all.margin_summary();
    result.margin_bins = bins_of(all.shown_margin());
    result.service_ns = metrics::latency_summary(all.service);
    result.response_ns = metrics::latency_summary(all.response);
    result.open_ns = metrics::latency_summary(all.open);
    result.seek_ns = metrics::latency_summary(all.seek);
}

}  // namespace streamsim::result
