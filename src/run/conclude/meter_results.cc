#include "run/conclude/meter_results.h"

#include <algorithm>

namespace streamsim::run {

void fill_meters(const RunFacts& facts, RunResult& result) {
    for (const LoopStats* playback_loop : facts.playback_loops) {
        result.meters.insert(result.meters.end(), playback_loop->meters.begin(), playback_loop->meters.end());
        result.operations.insert(result.operations.end(), playback_loop->operations.begin(),
                                 playback_loop->operations.end());
    }
    const auto by_seat = [](const auto& a, const auto& b) { return a.seat < b.seat; };
    std::stable_sort(result.meters.begin(), result.meters.end(), by_seat);
    std::stable_sort(result.operations.begin(), result.operations.end(), by_seat);
    if (!result.streams.empty()) return;
    for (const MeterResult& meter : result.meters) result.wall_ns = std::max(result.wall_ns, meter.wall_ns);
}

}  // namespace streamsim::run
