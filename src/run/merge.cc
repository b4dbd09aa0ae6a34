#include "run/merge.h"

namespace streamsim {

void become_part(const std::string& run_id, std::uint32_t ranks, SeatResult own, RunResult& result) {
    result.run_id = run_id;
    result.ranks = ranks;
    result.seats = {std::move(own)};
}

Result<RunResult> merge_results(std::vector<RunResult> parts) {
    return std::move(parts.front());
}

}  // namespace streamsim
