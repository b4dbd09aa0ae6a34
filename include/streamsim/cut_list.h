// A cut list whose clips have been found: which frame of which clip each frame of the record timeline shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/wide.h"
#include "streamsim/media.h"

namespace streamsim {

/// One piece of one clip on the record timeline. While two overlap (a transition) both are read.
struct CutSegment {
    std::uint64_t at = 0;        // first frame on the record timeline, from 0
    std::uint64_t frames = 0;    // on the record timeline
    std::uint32_t clip = 0;      // in CutList::clips
    std::int64_t first = 0;      // clip frame shown at `at`
    std::int64_t speed_num = 1;  // clip frame i frames later: first + floor(i * speed_num / speed_den)
    std::int64_t speed_den = 1;  // > 0; a negative speed_num plays backwards, 0 freezes
    std::string event;           // position in the list: "event 012", "track V1 clip 4"
};

struct CutList {
    std::string name;
    FrameRate rate;
    std::vector<Clip> clips;  // each used one once, in the order of first use
    std::vector<CutSegment>
        segments;              // by `at`, then outgoing before incoming; never more than two at one frame
    std::uint64_t frames = 0;  // length of the record timeline; > 0
    std::uint64_t events = 0;
    std::vector<std::string> notes;  // parts that were ignored, and assumptions that were made
};

/// floor(i * num / den), exact. REQUIRES: den > 0, the result fits 63 bits.
constexpr std::int64_t floor_scaled(std::uint64_t i, std::int64_t num, std::int64_t den) {
    const auto divisor = static_cast<std::uint64_t>(den);
    const std::uint64_t magnitude =
        num < 0 ? 0 - static_cast<std::uint64_t>(num) : static_cast<std::uint64_t>(num);
    const Wide product = Wide{i} * magnitude;
    const auto quotient = static_cast<std::int64_t>(product / divisor);
    if (num >= 0) return quotient;
    return product % divisor == 0 ? -quotient : -quotient - 1;
}

/// The clip frame that a segment shows. REQUIRES: record_frame in [at, at + frames).
constexpr std::int64_t clip_frame_at(const CutSegment& segment, std::uint64_t record_frame) {
    return segment.first + floor_scaled(record_frame - segment.at, segment.speed_num, segment.speed_den);
}

}  // namespace streamsim
