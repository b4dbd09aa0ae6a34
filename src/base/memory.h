// Memory and files in units: pages, blocks of direct I/O, cache lines.
#pragma once

#include <cstddef>
#include <cstdint>

namespace streamsim {

inline constexpr std::uint64_t kPageBytes = 4096;

constexpr std::uint64_t align_down(std::uint64_t value, std::uint64_t unit) {
    return value / unit * unit;
}
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t unit) {
    return align_down(value + unit - 1, unit);
}

/// The bytes are used soon: they come into the cache meanwhile. Costs an instruction a line. Null: no bytes.
[[gnu::always_inline]] inline void prefetch(const void* begin, std::size_t bytes) {
    constexpr std::size_t kCacheLine = 64;
    if (begin == nullptr) return;
    for (std::size_t at = 0; at < bytes; at += kCacheLine)
        __builtin_prefetch(static_cast<const char*>(begin) + at);
    asm volatile("");  // GCC leaves out calls of a function that has no other effect
}

/// The same of two places in one object.
[[gnu::always_inline]] inline void prefetch_between(const void* begin, const void* end) {
    prefetch(begin, static_cast<std::size_t>(static_cast<const char*>(end) - static_cast<const char*>(begin)));
}

}  // namespace streamsim
