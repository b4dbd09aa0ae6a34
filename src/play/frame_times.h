// FrameTimes: how long the last frames of a stream took, and the time that its next frame is expected to take.
// Policy skip decides by it which slot is read next (player.h).
//
// The time of a frame counts from the moment at which its read gets an in-flight slot to the moment at which
// the frame is complete: delivered and, where a decoder is configured, decoded. A frame that came too late to
// be decoded counts with the time to its delivery and the decoding time of the frame that was decoded last, so
// that slow reads are noticed although nothing is decoded. A frame that failed has no time.
//
// The expected time E is the time that at least three quarters of the last frames did not exceed: the
// nearest-rank 75th percentile of the last max(16, 4 x in-flight slots) frames, or of all frames as long as
// there are fewer; 0 before the first. One stall of the storage, or of this client, delays at most the frames
// that are in flight, a quarter of those that count: it does not move E. Lasting slowness does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "streamsim/outcome.h"

namespace streamsim::play {

/// Allocates in the constructor only.
class FrameTimes {
public:
    explicit FrameTimes(std::uint32_t inflight_slots)
        : times_(std::max<std::size_t>(kFramesMin, std::size_t{4} * inflight_slots)), sorted_(times_.size()) {}

    /// The frame was delivered.
    void add(const FrameOutcome& frame) {
        const bool complete = frame.completed != Instant::never();
        if (complete) decoding_ = frame.completed - frame.delivered;
        const Instant end = complete ? frame.completed : frame.delivered + decoding_;
        times_[added_++ % times_.size()] = end - frame.submitted;
        stale_ = true;
    }

    Duration expected() {
        if (stale_) expected_ = percentile();
        stale_ = false;
        return expected_;
    }

private:
    static constexpr std::size_t kFramesMin = 16;

    Duration percentile() {
        const std::uint64_t count = std::min<std::uint64_t>(added_, times_.size());
        const auto end = std::copy_n(times_.begin(), count, sorted_.begin());
        const auto rank = sorted_.begin() + static_cast<std::ptrdiff_t>((3 * count + 3) / 4 - 1);
        std::nth_element(sorted_.begin(), rank, end);
        return *rank;
    }

    std::vector<Duration> times_;   // a ring
    std::vector<Duration> sorted_;  // scratch
    std::uint64_t added_ = 0;
    Duration decoding_;  // of the frame that was decoded last
    Duration expected_;
    bool stale_ = false;
};

}  // namespace streamsim::play
