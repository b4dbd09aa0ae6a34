// The page cache of this computer.
#pragma once

#include <cstdint>
#include <optional>

namespace streamsim {

/// Bytes of a file, some of which may be behind its end.
struct FileRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = UINT64_MAX;
};

/// The bytes of a range of a file.
struct CachedPart {
    std::uint64_t cached = 0;  // in the page cache
    std::uint64_t bytes = 0;   // all of them, up to the end of the file
};

/// The range of an open file; by default all of it. nullopt: unknown, also because the system does not tell
/// this user, or the file has no bytes there.
std::optional<CachedPart> cached_part_of(int file, std::uint64_t offset = 0, std::uint64_t bytes = UINT64_MAX);

}  // namespace streamsim
