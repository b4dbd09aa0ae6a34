#include "judge/distance.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "judge/causes.h"

namespace streamsim::judge {
namespace {

/// Round trips of a server that answers at once: the request of a frame, and TCP's window, which grows while it
/// is sent; measured over SMB: 2.7.
constexpr std::int64_t kReadTrips = 3;
/// The same for a file that is opened.
constexpr std::int64_t kOpenTrips = 3;
constexpr std::size_t kReadingsMin = 3;

/// True: a server that answers at once would have been no faster with most of the frames that were re-read
/// alone.
bool are_round_trips(const std::vector<Reread>& rereads, std::int64_t rtt_ns) {
    std::size_t readings = 0;
    std::size_t explained = 0;
    for (const Reread& each : rereads) {
        if (each.failed) continue;
        ++readings;
        const std::int64_t trips = kReadTrips + (each.open_ns > 0 ? kOpenTrips : 0);
        if (each.took_ns <= trips * rtt_ns) ++explained;
    }
    return readings >= kReadingsMin && explained * 2 > readings;
}

}  // namespace

std::int64_t median_ns(std::vector<std::int64_t> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::int64_t read_alone_ns(const Evidence& evidence) {
    std::vector<std::int64_t> took;
    for (const Reread& each : evidence.rereads) {
        if (!each.failed) took.push_back(each.took_ns);
    }
    return median_ns(std::move(took));
}

DistanceShare distance_share(const Evidence& evidence,
                             const NetworkPathFacts& path,
                             std::span<const std::size_t> frames) {
    if (!through_network(evidence) || !is_far(path)) return DistanceShare::little;
    std::vector<std::int64_t> took;
    std::int64_t most_time_ns = 0;
    for (const std::size_t i : frames) {
        const MissedFrame& missed = evidence.missed[i];
        const auto took_ns = missed.took_ns();
        if (!took_ns) continue;
        took.push_back(*took_ns);
        most_time_ns = std::max(most_time_ns, missed.due_ns - *missed.submitted_ns);
    }
    if (took.empty()) return DistanceShare::some;
    const std::int64_t took_ns = median_ns(std::move(took));
    const std::int64_t rtt_ns = *path.rtt_min_ns;
    if (rtt_ns * 5 >= took_ns * 2 || rtt_ns >= most_time_ns) return DistanceShare::most;
    const std::int64_t alone_ns = read_alone_ns(evidence);
    const std::int64_t at_once =
        evidence.as_played ? static_cast<std::int64_t>(evidence.as_played->inflight) : 1;
    const bool one_by_one = took_ns * 2 <= alone_ns * at_once * 3;
    if (alone_ns > evidence.shortest_period_ns && one_by_one && are_round_trips(evidence.rereads, rtt_ns))
        return DistanceShare::most;
    return rtt_ns * 4 >= took_ns ? DistanceShare::part : DistanceShare::some;
}

}  // namespace streamsim::judge
