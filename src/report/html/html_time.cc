#include "report/html/html_time.h"

#include <algorithm>
#include <iterator>

namespace streamsim::report::html {
namespace {

template <typename T>
std::optional<T> lesser(const std::optional<T>& a, const std::optional<T>& b) {
    return !a ? b : !b ? a : std::min(*a, *b);
}

}  // namespace

std::vector<TimelineEntry> coarser(const std::vector<TimelineEntry>& timeline, std::size_t limit) {
    const std::size_t step = (timeline.size() + limit - 1) / limit;
    std::vector<TimelineEntry> out;
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        const TimelineEntry& entry = timeline[i];
        if (i % step == 0) {
            out.push_back(entry);
            continue;
        }
        TimelineEntry& sum = out.back();
        sum.interval_ns += entry.interval_ns;
        sum.bytes += entry.bytes;
        sum.frames_on_time += entry.frames_on_time;
        sum.frames_dropped += entry.frames_dropped;
        sum.frames_late += entry.frames_late;
        sum.frames_failed += entry.frames_failed;
        sum.service_ns_max = std::max(sum.service_ns_max, entry.service_ns_max);
        sum.buffer_frames_min = lesser(sum.buffer_frames_min, entry.buffer_frames_min);
        sum.margin_ns_min = lesser(sum.margin_ns_min, entry.margin_ns_min);
    }
    return out;
}

std::vector<TimelineEntry> of_play(const std::vector<TimelineEntry>& timeline) {
    std::vector<TimelineEntry> out;
    std::copy_if(timeline.begin(), timeline.end(), std::back_inserter(out),
                 [](const TimelineEntry& entry) { return entry.t_ns >= 0; });
    return out;
}

std::int64_t longest_interval_ns(const std::vector<TimelineEntry>& entries) {
    return std::max_element(
               entries.begin(), entries.end(),
               [](const TimelineEntry& a, const TimelineEntry& b) { return a.interval_ns < b.interval_ns; })
        ->interval_ns;
}

double bytes_per_s(const TimelineEntry& entry) {
    if (entry.interval_ns <= 0) return 0;
    return static_cast<double>(entry.bytes) * 1e9 / static_cast<double>(entry.interval_ns);
}

std::uint64_t missed(const TimelineEntry& entry) {
    return entry.frames_dropped + entry.frames_late + entry.frames_failed;
}

}  // namespace streamsim::report::html
