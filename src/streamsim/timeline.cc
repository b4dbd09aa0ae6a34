#include <algorithm>

#include "streamsim/stream_result.h"

namespace streamsim {

TimelineEntry& TimelineEntry::operator+=(const TimelineEntry& more) {
    bytes += more.bytes;
    frames_on_time += more.frames_on_time;
    frames_dropped += more.frames_dropped;
    frames_late += more.frames_late;
    frames_failed += more.frames_failed;
    const auto most = [](const auto& a, const auto& b) { return a && b ? std::max(a, b) : a ? a : b; };
    service_ns_p50 = most(service_ns_p50, more.service_ns_p50);
    service_ns_p99 = most(service_ns_p99, more.service_ns_p99);
    service_ns_max = std::max(service_ns_max, more.service_ns_max);
    const auto least = [](const auto& a, const auto& b) { return a && b ? std::min(a, b) : a ? a : b; };
    buffer_frames_min = least(buffer_frames_min, more.buffer_frames_min);
    margin_ns_min = least(margin_ns_min, more.margin_ns_min);
    return *this;
}

std::vector<TimelineEntry> in_seconds(const std::vector<TimelineEntry>& timeline) {
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    std::vector<TimelineEntry> out;
    for (const TimelineEntry& entry : timeline) {
        const bool joins = !out.empty() && out.back().t_ns >= 0 && out.back().interval_ns < kSecondNs;
        if (!joins) {
            out.push_back(entry);
            continue;
        }
        out.back() += entry;
        out.back().interval_ns += entry.interval_ns;
    }
    return out;
}

}  // namespace streamsim
