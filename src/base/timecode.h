// SMPTE time code (ST 12-1) from text. The other direction is timecode() in base/units.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace streamsim {

/// A time code as it is written, before a rate is known.
struct TimecodeLabel {
    /// Separator before the frames: ':' or '.' (the second field), ';' or ',' (the same, drop frame).
    char separator = ':';
    std::uint32_t hours = 0;
    std::uint32_t minutes = 0;
    std::uint32_t seconds = 0;
    std::uint32_t frames = 0;

    bool says_drop() const { return separator == ';' || separator == ','; }
};

/// Reads "HH:MM:SS:FF": one to six digits of hours, two each of minutes and seconds, two or three of frames;
/// any of the separators between them, of which the last counts. Empty for text of another form, and for
/// minutes or seconds above 59.
std::optional<TimecodeLabel> read_timecode_label(std::string_view text);

/// Frames that a second of time code counts: 24 at 24000/1001, 30 at 30000/1001.
std::uint64_t nominal_rate(FrameRate rate);

/// The rate of a time code that has one label for `each` frames: 30000/1001 for 2 at 60000/1001.
FrameRate label_rate(FrameRate rate, std::uint64_t each);

/// True for rates that have drop-frame time code: 30000/1001 and 60000/1001.
bool has_drop_frame(FrameRate rate);

/// Frames since 00:00:00:00. Errors: a frame that the rate does not count to; with `drop` a rate that has no
/// drop-frame time code, or a label that it leaves out.
Result<std::uint64_t> frames_of(const TimecodeLabel& label, FrameRate rate, bool drop);

/// Frames since 00:00:00:00 of "HH:MM:SS:FF", or with ';' or ',' before the frames for drop frame: the inverse
/// of timecode(). Errors: as read_timecode_label and frames_of.
Result<std::uint64_t> parse_timecode(std::string_view text, FrameRate rate);

}  // namespace streamsim
