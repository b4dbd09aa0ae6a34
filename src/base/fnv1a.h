// FNV-1a (Fowler, Noll and Vo), 64 bit: a checksum against damage, not against an attacker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace streamsim {

inline constexpr std::uint64_t kFnv1aStart = 0xcbf29ce484222325u;

/// `from` continues a checksum of bytes before these.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t from = kFnv1aStart) {
    for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return from;
}

constexpr std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t from = kFnv1aStart) {
    for (const std::byte b : bytes) from = (from ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3u;
    return from;
}

}  // namespace streamsim
