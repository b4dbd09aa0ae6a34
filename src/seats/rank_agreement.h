// The steps before play in which the ranks depend on each other: all ranks call agree() and share() in the same
// order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "seats/rank_group.h"

namespace streamsim::seats {

class RankAgreement {
public:
    explicit RankAgreement(RankGroup& group) : group_(group), reports_(group.size()) {}

    /// Success when every rank has called it with success; else the errors of all that failed, each named, the
    /// same in every rank. Blocks. Errors besides: interrupted.
    Result<void> agree(const Result<void>& own);
    /// Rank 0's value in every rank; rank 0 does not wait for the others. Errors: interrupted; rank 0 is gone.
    Result<Json> share(const Json& value);
    /// Rank 0 has said that the run ends. REQUIRES: the group's mutex is held.
    bool ended() const { return ended_; }

    /// A message that is not about play. REQUIRES: the group's mutex is held.
    void hear(std::uint32_t rank, const std::string& what, const Json& message);

private:
    using ByStep = std::map<std::uint64_t, Result<void>>;

    Result<void> ask_first(std::unique_lock<std::mutex>& lock, std::uint64_t step, const Result<void>& own);

    // Protected by the group's mutex.
    RankGroup& group_;
    std::uint64_t step_ = 0;
    std::vector<ByStep> reports_;  // rank 0: by rank
    ByStep answers_;
    std::map<std::uint64_t, Json> shared_;
    bool ended_ = false;
};

}  // namespace streamsim::seats
