// The time of day, as people and other computers have it. It may jump: durations come from other clocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace streamsim {

/// Nanoseconds since 1970 (UTC).
std::int64_t time_of_day_ns();

/// Reads "14:30", "14:30:05" (the next time that it is so late), "2026-11-26T14:30" and "2026-11-26T14:30:05",
/// all local times. Returns seconds since 1970. `now_s`: the same of the moment. Errors: bad input: the form;
/// the time is over.
Result<std::int64_t> parse_local_time(std::string_view text, std::int64_t now_s);

/// "2026-11-26 14:30:00", local time. `time_s`: since 1970.
std::string show_local_time(std::int64_t time_s);

}  // namespace streamsim
