#include "streamsim/run_result.h"

#include <algorithm>

namespace streamsim {

RunResult::RunResult() = default;
RunResult::RunResult(const RunResult&) = default;
RunResult::RunResult(RunResult&&) noexcept = default;
RunResult& RunResult::operator=(const RunResult&) = default;
RunResult& RunResult::operator=(RunResult&&) noexcept = default;
RunResult::~RunResult() = default;

std::uint64_t misses_in_no_event(const RunResult& result) {
    std::uint64_t stalls = result.totals.stalls;
    for (const MissEvent& event : result.events) stalls -= std::min(stalls, event.stalls);
    return result.drops_omitted + stalls;
}

}  // namespace streamsim
