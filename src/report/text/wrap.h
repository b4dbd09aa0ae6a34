// Texts in lines of a terminal's width. Inside report/ only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace streamsim::report {

inline constexpr std::size_t kScreenColumns = 80;
inline constexpr std::size_t kScreenRows = 24;

struct Wrap {
    std::size_t columns = kScreenColumns;
    std::size_t indent = 0;       // of all lines but the first
    std::size_t lines_max = 100;  // the last one then ends with "..."
};

/// Breaks at spaces, and inside words that are longer than a line. At least one line.
std::vector<std::string> wrapped(std::string_view text, const Wrap& wrap);

}  // namespace streamsim::report
