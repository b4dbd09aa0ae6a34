// Clips that are the same have the same number.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "run/session/stream_plan.h"

namespace streamsim::run {

class ClipNumbers {
public:
    explicit ClipNumbers(const std::vector<StreamPlan>& streams) {
        for (const StreamPlan& plan : streams) {
            for (const Clip& clip : plan.clips)
                numbers_.emplace(clip.index.get(), static_cast<std::uint32_t>(numbers_.size()));
        }
    }
    /// REQUIRES: of one of those streams.
    std::uint32_t of(const Clip& clip) const { return numbers_.at(clip.index.get()); }

private:
    std::map<const FrameIndex*, std::uint32_t> numbers_;
};

}  // namespace streamsim::run
