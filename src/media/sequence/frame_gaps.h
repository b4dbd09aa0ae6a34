// The sentence about frame numbers that are missing. Inside media/ only.
#pragma once

#include <cstdint>
#include <string>

#include "media/sequence/sequence_index.h"

namespace streamsim::media {

/// Collects gaps, of which the first few are named.
class FrameGaps {
public:
    /// The numbers first to last are missing. REQUIRES: first <= last, rising from call to call, not touching.
    void add(std::uint64_t first, std::uint64_t last);
    std::uint64_t missing() const { return missing_; }
    /// "7 frame numbers are missing: 3, 4, 6 to 10"; empty when none is.
    std::string text() const;

private:
    std::uint64_t missing_ = 0;
    std::uint64_t gaps_ = 0;
    std::string first_few_;
};

/// The gaps of a sequence.
FrameGaps gaps_of(const SequenceFacts& facts);

}  // namespace streamsim::media
