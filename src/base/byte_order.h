// Integers in the byte order of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace streamsim {

/// Reads an unsigned integer of sizeof(T) bytes. REQUIRES: offset + sizeof(T) <= bytes.size().
template <typename T>
T load(std::span<const std::byte> bytes, std::size_t offset, bool big_endian) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        const std::size_t at = big_endian ? i : sizeof(T) - 1 - i;
        value = value << 8 | std::to_integer<std::uint64_t>(bytes[offset + at]);
    }
    return static_cast<T>(value);
}

/// Writes one. REQUIRES: offset + sizeof(T) <= bytes.size().
template <typename T>
void store(std::span<std::byte> bytes, std::size_t offset, bool big_endian, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        const std::size_t at = big_endian ? sizeof(T) - 1 - i : i;
        bytes[offset + at] = static_cast<std::byte>(std::uint64_t{value} >> (8 * i));
    }
}

}  // namespace streamsim
