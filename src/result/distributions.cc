#include "result/distributions.h"

#include <algorithm>
#include <array>

namespace streamsim::result {
namespace {

template <typename Source>
HistogramCounts counts_of(const Source& histogram) {
    HistogramCounts out;
    if (histogram.count() == 0) return out;
    out.min = histogram.min();
    out.max = histogram.max();
    // Counted before: a list that grows would leave the memory of several, for each stream and each second.
    std::size_t buckets = 0;
    histogram.each([&buckets](std::int64_t, std::uint64_t) { ++buckets; });
    out.buckets.reserve(buckets);
    histogram.each([&out](std::int64_t value, std::uint64_t times) { out.buckets.push_back({value, times}); });
    std::ranges::sort(out.buckets, [](const auto& a, const auto& b) { return a.value < b.value; });
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

constexpr std::int64_t kBinsMax = 40;
/// 18 years: longer times are in the bins at the ends, so that no number below is too large.
constexpr std::int64_t kShownMax = std::int64_t{1} << 59;

std::int64_t shown(std::int64_t ns) {
    return std::clamp(ns, -kShownMax, kShownMax);
}

/// 1, 2 or 5 times a power of ten, so that `range_ns` has at most kBinsMax of them.
std::int64_t round_width(std::int64_t range_ns) {
    for (std::int64_t power = 1'000;; power *= 10) {
        for (const std::int64_t step : {1, 2, 5}) {
            if (range_ns / (power * step) < kBinsMax) return power * step;
        }
    }
}

std::vector<MarginBin> bins_of(const metrics::SignedHistogram& margins) {
    std::vector<MarginBin> bins;
    if (margins.count() == 0) return bins;
    const std::int64_t least = shown(margins.min()), largest = shown(margins.max());
    const std::int64_t width = round_width(largest - least);
    const auto floor_of = [width](std::int64_t ns) {
        return (ns >= 0 ? ns / width : -((-ns + width - 1) / width)) * width;
    };
    for (std::int64_t from = floor_of(least); from <= largest; from += width)
        bins.push_back({from, from + width, 0});
    margins.each([&](std::int64_t ns, std::uint64_t times) {
        bins[static_cast<std::size_t>((shown(ns) - bins.front().from_ns) / width)].frames += times;
    });
    return bins;
}

/// Ten bins for each power of ten, from the least to the largest value.
std::vector<MarginBin> log_bins_of(const metrics::Histogram& times) {
    constexpr std::array<std::int64_t, 10> kEdges = {100, 125, 160, 200, 250, 315, 400, 500, 630, 800};
    constexpr std::int64_t kFirstNs = 1'000;
    std::vector<MarginBin> bins;
    if (times.count() == 0) return bins;
    const std::int64_t least = shown(times.min()), largest = shown(times.max());
    std::int64_t from = 0;
    for (std::int64_t power = kFirstNs; from <= largest; power *= 10) {
        for (const std::int64_t edge : kEdges) {
            const std::int64_t to = power / 100 * edge;
            if (to > least && from <= largest) bins.push_back({from, to, 0});
            from = to;
        }
    }
    times.each([&](std::int64_t ns, std::uint64_t frames) {
        const auto bin = std::ranges::upper_bound(bins, ns, {}, &MarginBin::from_ns);
        (bin == bins.begin() ? bin : bin - 1)->frames += frames;
    });
    return bins;
}

/// Pairs each distribution of times with its counts in documents.
template <class Times, class Histograms, class Use>
void for_each_pair(Times& times, Histograms& histograms, const Use& use) {
    use(times.margin, histograms.margin_ns);
    use(times.preroll_margin, histograms.preroll_margin_ns);
    use(times.service, histograms.service_ns);
    use(times.response, histograms.response_ns);
    use(times.open, histograms.open_ns);
    use(times.seek, histograms.seek_ns);
    use(times.sync, histograms.sync_ns);
}

}  // namespace

StreamHistograms histograms_of(const metrics::Distributions& times, const std::vector<std::uint64_t>& depths) {
    StreamHistograms out;
    for_each_pair(times, out,
                  [](const auto& histogram, HistogramCounts& counts) { counts = counts_of(histogram); });
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
    for_each_pair(out, histograms,
                  [](auto& histogram, const HistogramCounts& counts) { add_all(counts, histogram); });
    return out;
}

void fill_summaries(const metrics::Distributions& all, RunResult& result) {
    result.margin_ns = all.margin_summary();
    result.margin_bins = bins_of(all.shown_margin());
    result.service_bins = log_bins_of(all.service);
    result.service_ns = metrics::latency_summary(all.service);
    result.response_ns = metrics::latency_summary(all.response);
    result.open_ns = metrics::latency_summary(all.open);
    result.seek_ns = metrics::latency_summary(all.seek);
}

}  // namespace streamsim::result
