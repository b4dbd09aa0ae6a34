// The first lines of the live view: what the run does now, and what it has done since its beginning. Inside
// view/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "view/live_lines.h"

namespace streamsim::view {

inline constexpr int kHeadingRowsMin = 8;  // a terminal with fewer rows shows no heading

/// All streams together.
struct LiveSums {
    std::uint64_t bad = 0;
    std::uint64_t stalls = 0;
    std::size_t with_drops = 0;                 // streams, since the beginning
    std::optional<std::int64_t> margin_min_ns;  // since the beginning
    std::size_t playing = 0;                    // now, as all that follow
    std::size_t missing = 0;
    std::size_t tight = 0;
    const StreamView* emptiest = nullptr;  // the playing stream with the least share of its read-ahead
    std::optional<std::int64_t> margin_lately_ns;
};

LiveSums sums_of(const ViewState& state);

/// A run of meters, without streams.
bool only_meters(const ViewState& state);

std::string time_text(const ViewState& state, bool with_rest);
/// "480.1 of 460.0 MB/s".
std::string rate_text(const ViewState& state);
std::string missed_text(const LiveSums& sums);

/// Title and time, now, ever: three lines, two, or one.
std::vector<ViewLine> header_lines(const ViewState& state, std::size_t columns, int rows);

}  // namespace streamsim::view
