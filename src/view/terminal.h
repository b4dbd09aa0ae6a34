// What the live view and the progress bar share: the size of a terminal, and text that fits into it. Inside
// view/ only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace streamsim::view {

/// Whether `fd` is a terminal that obeys escape sequences.
bool terminal_obeys(int fd);

/// Columns and rows; the fallbacks where the terminal does not say.
std::pair<int, int> terminal_size(int fd, int fallback_columns, int fallback_rows);

/// Writes everything or gives up: a view that cannot be drawn is no reason to stop playing.
void write_all(int fd, std::string_view text);

/// The first `columns` characters of UTF-8 text, never half of one.
std::string clip(std::string_view text, int columns);

/// Whether the environment says that the terminal shows UTF-8.
bool utf8_wanted();

/// "[####......]", or in UTF-8 blocks without brackets; full where `total` is 0.
std::string bar(std::uint64_t done, std::uint64_t total, std::size_t cells = 10, bool utf8 = false);

/// The same for a value beside the one that is required, which has a mark: "[######  |  ]".
std::string bar_with_mark(double value, double required, std::size_t cells, bool utf8);

}  // namespace streamsim::view
