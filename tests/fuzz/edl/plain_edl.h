// A second reader of edit decision lists, written from the rules of CMX3600 alone and sharing nothing with
// src/: it reads plain lists only, and leaves all others to the reader that it is compared with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace streamsim::fuzz {

struct PlainTime {
    unsigned hours = 0, minutes = 0, seconds = 0, frames = 0;

    /// Non-drop frames at 25 frames a second; nothing for a frame that is not counted there.
    std::optional<std::int64_t> at_25() const;
};

/// An event line with a picture: "NNN REEL V C", or "D nnn" or "Wnnn nnn" instead of C, and four times.
struct PlainEvent {
    std::string number;
    std::string reel;
    std::optional<unsigned> transition;  // frames; nothing: a cut
    PlainTime source_in, source_out, record_in, record_out;
};

struct PlainEdl {
    std::string title;
    std::vector<PlainEvent> events;
};

/// Nothing for a list with anything else than TITLE, comments that begin with '*', and such events, each with a
/// number of its own: three digits.
std::optional<PlainEdl> read_plain_edl(std::string_view text);

/// The length of a list of cuts at 25 frames a second, where every event has as many frames of its source as of
/// the record, at least one, and none lies over another. Nothing for other lists.
std::optional<std::int64_t> plain_length(const PlainEdl& list);

}  // namespace streamsim::fuzz
