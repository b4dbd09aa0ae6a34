// The memory of a BufferArena, on each system. Inside storage/ only.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace streamsim::storage {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Maps `bytes` of zeroes at an address aligned to kHugePage, untouched, on huge pages if available. Null:
/// refused, with errno set.
std::byte* map_frames(std::size_t bytes);
/// REQUIRES: a whole mapping of map_frames().
void unmap_frames(std::byte* memory, std::size_t bytes);

struct HugePages {
    int tenths = 0;       // of the memory that are on huge pages
    std::string setting;  // the system's setting that a user can change; empty: there is none
};
/// REQUIRES: the memory was touched.
HugePages huge_pages_under(std::span<const std::byte> memory);

}  // namespace streamsim::storage
