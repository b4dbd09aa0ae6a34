// Helpers of the live view and the progress bar: the size of a terminal, and text that fits into it. Inside
// view/ only, but for write_while_ready().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace streamsim::view {

/// True if `fd` is a terminal that obeys escape sequences.
bool terminal_obeys(int fd);

/// Columns and rows; if the terminal does not report them, those of kUsualSize.
std::pair<int, int> terminal_size(int fd);
inline constexpr std::pair kUsualSize{80, 24};

/// Writes everything or gives up: a view that cannot be drawn is no reason to stop playing.
void write_all(int fd, std::string_view text);

/// Writes the text as far as `fd` takes it without blocking, for a process that ends at once: the reader of a
/// pipe or a terminal may have stopped. Allocates nothing; a signal handler may call it. Windows: as
/// write_all().
void write_while_ready(int fd, std::string_view text);

/// The first `columns` characters of UTF-8 text, never half of one.
std::string clip(std::string_view text, int columns);

/// True if the environment says that the terminal shows UTF-8.
bool utf8_wanted();

/// "[####......]", or in UTF-8 blocks without brackets; full where `total` is 0.
std::string bar(std::uint64_t done, std::uint64_t total, std::size_t cells = 10, bool utf8 = false);

/// A bar for `value`, with a mark at `required`: "[######  |  ]".
std::string bar_with_mark(double value, double required, std::size_t cells, bool utf8);

}  // namespace streamsim::view
