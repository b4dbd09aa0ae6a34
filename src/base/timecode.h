// SMPTE time codes as people and files write them. units.h has the way back.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace streamsim {

struct Timecode {
    std::uint64_t frame = 0;  // frames since 00:00:00:00
    bool drop_frame = false;  // counted with labels left out (ST 12-1)
};

/// Reads "HH:MM:SS:FF", and "HH:MM:SS;FF" (or "." or "," before the frames) as drop frame, at the rate's
/// nominal count; of drop-frame labels it is the inverse of timecode(), of others too where the rate has no
/// drop frame. FF has two digits or three. Errors: bad input when the text is anything else, a number is out of
/// its range (hours may go up to 99), the rate has no drop frame (only 30000/1001 and 60000/1001 have), or the
/// label is one that drop frame leaves out.
Result<Timecode> parse_timecode(std::string_view text, FrameRate rate);

/// Frames that a second of time code counts: the rate, rounded up.
std::uint64_t nominal_rate(FrameRate rate);

}  // namespace streamsim
