// Multiples of a unit: pages, blocks of direct I/O.
#pragma once

#include <cstdint>

namespace streamsim {

inline constexpr std::uint64_t kPageBytes = 4096;

constexpr std::uint64_t align_down(std::uint64_t value, std::uint64_t unit) {
    return value / unit * unit;
}
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t unit) {
    return align_down(value + unit - 1, unit);
}

}  // namespace streamsim
