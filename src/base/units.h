// Times and sizes as people type them, and as they are shown. A number without a unit is an error, because any
// unit would be a guess.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace streamsim {

/// Reads "10s", "1.5ms", "24h"; units ns us ms s m h. "0" needs no unit. Errors: no unit, an unknown unit, a
/// negative or an overflowing value.
Result<Duration> parse_duration(std::string_view text);

/// Reads "1MiB", "64kB", "4096B"; units B KiB MiB GiB TiB kB MB GB TB. Errors as parse_duration.
Result<std::uint64_t> parse_size(std::string_view text);

/// "41.67 ms", "12 us", "1 h 02 m"; for people, never for a document.
std::string show_duration(Duration duration);

/// "49.8 MB", decimal units as storage is sold.
std::string show_bytes(std::uint64_t bytes);

/// "1 MiB", "64 KiB", "1000 B": binary units for powers of two.
std::string show_io_size(std::uint64_t bytes);

/// "1,234.5 MB/s"; "- MB/s" where there is no rate.
std::string show_rate(double bytes_per_s);

/// 1234567 -> "1,234,567".
std::string show_count(std::uint64_t count);

/// "1 frame", "1,024 frames"
std::string counted(std::uint64_t count, std::string_view one);

/// SMPTE timecode of frame `frame` counted from 00:00:00:00, "HH:MM:SS:FF" at the rate's nominal count;
/// 30000/1001 and 60000/1001 use the drop-frame labels and "HH:MM:SS;FF" (ST 12-1).
std::string timecode(std::uint64_t frame, FrameRate rate);

}  // namespace streamsim
