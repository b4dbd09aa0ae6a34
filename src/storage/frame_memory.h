// The memory of a BufferArena, as each system gives it. Inside storage/ only.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace streamsim::storage {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// `bytes` of zeroes from an address aligned to kHugePage, not touched yet, on huge pages where they can be
/// had. Null: refused, errno says why.
std::byte* map_frames(std::size_t bytes);
/// REQUIRES: what map_frames gave, as a whole.
void unmap_frames(std::byte* memory, std::size_t bytes);

struct HugePages {
    int tenths = 0;       // of the memory
    std::string setting;  // of the system, which a user can change; empty: there is none
};
/// Of touched memory.
HugePages huge_pages_under(std::span<const std::byte> memory);

}  // namespace streamsim::storage
