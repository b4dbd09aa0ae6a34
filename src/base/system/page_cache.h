// The page cache of this computer.
#pragma once

#include <cstdint>
#include <optional>

namespace streamsim {

/// Bytes of an open file in the page cache; nullopt: unknown, also because the system does not tell this user,
/// or the file is empty.
std::optional<std::uint64_t> cached_bytes_of(int file);

}  // namespace streamsim
