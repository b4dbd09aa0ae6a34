// Whether this computer had too little memory while frames were missed. Inside judge/ only.
#pragma once

#include <cstdint>
#include <optional>

#include "streamsim/system_history.h"

namespace streamsim::judge {

/// Shares are of the time, 0 to 1; nullopt: the system does not say.
struct MemoryWindow {
    std::optional<double> pressure;  // some task waited for memory: of this process's group, or of all
    std::optional<std::uint64_t> limit_hits;
    std::optional<std::uint64_t> limit_bytes;
    std::optional<std::uint64_t> refaulted_bytes;
};

/// The samples that span [from, to], and half a second at each side: repeated reads fill memory that
/// others wait for a little later.
MemoryWindow memory_window(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

enum class MemoryAnswer { enough, short_of, unknown };

/// Short of memory: tasks waited for it, and this process met a limit. Waiting alone may be another's; a limit
/// that is met alone is a page cache that is full, which costs nothing. Storage that is slow makes tasks wait
/// for I/O, not for memory.
MemoryAnswer memory_answer(const MemoryWindow& memory);

}  // namespace streamsim::judge
